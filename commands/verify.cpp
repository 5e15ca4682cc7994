#include "verify/verify.h"

#include <CLI/CLI.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/posix_host_file_system.h"
#include "commands/commands.h"
#include "commands/confirm.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "commands/text_argument.h"
#include "commands/verify_targets.h"
#include "report/verify_report.h"
#include "verify/host_facts.h"
#include "verify/repair.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(Looks for damage: content that isn't what its name says, entries, modules, kernels and libraries that are cut or
of another kind, references that lead nowhere, directories that hide what an entry carries, leftovers. docs/checks.md
has every check: what torch does when it meets it, and how to mend it. Names are plain hashes, so this finds damage,
not intent: 'cachetool scan' judges what loading would run.

A KEY may be cut short where it stays unique: its candidates and all that they lead to. A path stands for what lies
below it; without an argument it is the whole cache.

Examples:
  cachetool verify
  cachetool verify /tmp/torchinductor_me --deep --fail-on warning
  cachetool verify --against host
  cachetool verify --against cpu=avx2,arch=sm_80 /mnt/image/cache
  cachetool verify fvvegf7a
  cachetool verify --json | jq '.findings[] | select(.severity == "error")'
  cachetool verify --format sarif > verify.sarif
  cachetool verify --repair --dry-run

--repair moves what torch can't use and makes again into .cachetool/quarantine below the cache's root; nothing is
deleted, and torch may run meanwhile. It asks at a terminal; elsewhere it needs --yes.

Exit status: 0 nothing of that severity (or all of it was repaired), 1 findings (see --fail-on), 2 wrong usage or a
repair that nobody confirmed, 3 something could not be read or moved.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> targets;
  verify::Depth depth = verify::Depth::kDefault;
  verify::Severity fail_on = verify::Severity::kError;
  std::vector<std::string> compile_commands;
  std::optional<verify::TargetRequest> against;
  bool sarif = false;
  bool repair = false;
  bool dry_run = false;
  bool yes = false;
};

/// A cache's findings, kept until all caches were looked at.
struct Verified {
  std::shared_ptr<store::Source> source;
  verify::Result result;
  std::vector<verify::RootRepair> repairs;
};

/// Runs the checks over one target.
Expected<verify::Result> verify_target(const Options& options, Context& context, ThreadPool& pool,
                                       const VerifyTarget& target, const verify::TargetMachine* machine,
                                       const std::vector<std::string>& commands) {
  verify::Options how;
  how.machine = machine;
  how.depth = options.depth;
  how.limits.max_memory = options.common.max_memory;
  how.compile_commands = commands;
  how.entries = target.entries;
  Progress progress(context, "files");
  how.progress = [&](std::uint64_t done, std::uint64_t total) { return progress.show(done, total), true; };
  return verify::verify(context.files, *target.source, pool, how);
}

/// What binaries have to fit: what --against names, or with --deep alone the libraries of this machine. Null:
/// they are not compared with anything.
Expected<std::unique_ptr<verify::TargetMachine>> target_machine(const Options& options, Context& context) {
  if (!options.against && options.depth != verify::Depth::kDeep) return nullptr;
  verify::TargetRequest request;
  request.libraries = true;
  if (options.against) request = *options.against;
  const auto host = make_posix_host();
  const auto facts = verify::read_host_facts(context.files, *host, context.environment);
  auto machine = verify::describe_target(context.files, context.environment, facts, request);
  if (!machine) return tl::unexpected(std::move(machine.error()));
  return std::make_unique<verify::TargetMachine>(std::move(*machine));
}

/// What is left of the findings once repairs are done.
ExitCode code_of(const Verified& verified, verify::Severity fail_on) {
  for (const verify::Finding& finding : verified.result.findings)
    if (finding.severity >= fail_on && !verify::is_mended(finding, verified.repairs))
      return ExitCode::kFindings;
  return ExitCode::kDone;
}

/// What became of the repairs: 3 for what couldn't be moved. What changed meanwhile, or is in use, stays.
ExitCode code_of(const std::vector<verify::RootRepair>& repairs) {
  ExitCode code = ExitCode::kDone;
  for (const verify::RootRepair& repair : repairs) {
    if (repair.failure || !repair.outcome.problems.empty()) code = ExitCode::kIncomplete;
    for (const change::UnitOutcome& unit : repair.outcome.units)
      if (unit.state == change::UnitState::kFailed) code = ExitCode::kIncomplete;
  }
  return code;
}

/// What a limit kept from being looked at: nothing is known to be wrong with it, but the run isn't complete.
ExitCode code_of_limits(const verify::Result& result) {
  for (const store::Skipped& place : result.skipped)
    if (code_name(place.error.code).starts_with("limit.")) return ExitCode::kIncomplete;
  return ExitCode::kDone;
}

std::size_t planned_units(const std::list<Verified>& caches) {
  std::size_t units = 0;
  for (const Verified& verified : caches)
    for (const verify::RootRepair& repair : verified.repairs) units += repair.plan.units.size();
  return units;
}

report::VerifyReport make_report(const Options& options, const std::list<Verified>& caches) {
  report::VerifyReport report;
  report.depth = options.depth;
  report.version = CACHETOOL_VERSION;
  for (const Verified& verified : caches)
    report.caches.push_back(
        {verified.source->cache(), verified.result, options.repair ? &verified.repairs : nullptr});
  return report;
}

void write_report(const Options& options, Context& context, const std::list<Verified>& caches) {
  const report::VerifyReport report = make_report(options, caches);
  if (options.sarif) return report::write_verify_sarif(context.out, report);
  report::write_verify(context.out, report, format_of(options.common), look_of(options.common, context));
}

/// Moves what is planned, once somebody wants it. Writes the report: with the plan before asking, with what
/// became of it after.
ExitCode repair(const Options& options, Context& context, std::list<Verified>& caches) {
  const std::size_t units = planned_units(caches);
  const bool asks = !options.yes || options.dry_run;
  if (asks || units == 0) write_report(options, context, caches);
  if (units == 0 || options.dry_run) return ExitCode::kDone;
  if (asks) {
    const Consent consent = ask(context, "Move " + std::to_string(units) + " of these into quarantine?");
    if (consent != Consent::kGiven) {
      const Error error{ErrorCode::kUsage, "nothing was changed", {}, {}, "--yes repairs without asking"};
      return report_error(context, error, error_form(options.common));
    }
  }
  change::Settings settings;
  settings.uid = context.environment.uid;
  ExitCode code = ExitCode::kDone;
  for (Verified& verified : caches) {
    verify::execute_repair(context.files, verified.source->cache(), verified.repairs, settings);
    code = merge(code, code_of(verified.repairs));
  }
  if (asks) {
    report::write_repairs(context.out, make_report(options, caches), format_of(options.common),
                          look_of(options.common, context));
  } else {
    write_report(options, context, caches);
  }
  return code;
}

/// Whether this run may change something, once it is confirmed.
bool may_repair(const Options& options, const Context& context) {
  return options.repair && !options.dry_run &&
         (options.yes || (context.terminal.in && context.terminal.error));
}

/// Brings repairs that were cut off to their end, or back, before the caches are looked at.
ExitCode settle_earlier(Context& context, const std::vector<VerifyTarget>& targets, ErrorForm form) {
  ExitCode code = ExitCode::kDone;
  for (const VerifyTarget& target : targets) {
    const store::CacheSet& cache = target.source->cache();
    for (const Error& problem : verify::settle_earlier(context.files, cache, context.environment.uid))
      code = merge(code, report_error(context, problem, form));
  }
  return code;
}

ExitCode run_verify(const Options& options, Context& context) {
  const ErrorForm form = options.sarif ? ErrorForm::kJson : error_form(options.common);
  std::vector<VerifyTarget> targets;
  ExitCode code = resolve_targets(context, options.common, options.targets, targets);
  if (targets.empty()) return code;

  const auto machine = target_machine(options, context);
  if (!machine) return report_error(context, machine.error(), form);
  if (may_repair(options, context)) code = merge(code, settle_earlier(context, targets, form));
  std::vector<std::string> commands;
  for (const std::string& argument : options.compile_commands) {
    auto text = text_argument(context, argument);
    if (!text) return report_error(context, text.error(), form);
    commands.push_back(std::move(*text));
  }
  ThreadPool pool(options.common.threads);
  std::list<Verified> caches;
  for (const VerifyTarget& target : targets) {
    auto result = verify_target(options, context, pool, target, machine->get(), commands);
    if (!result) {
      code = merge(code, report_error(context, result.error(), form));
      continue;
    }
    Verified& verified = caches.emplace_back(Verified{target.source, std::move(*result), {}});
    const store::CacheSet& cache = target.source->cache();
    if (options.repair) verified.repairs = verify::plan_repair(context.files, cache, verified.result);
    code = merge(code, report_skipped(context, cache, verified.result.skipped, form));
    code = merge(code, code_of_limits(verified.result));
  }
  if (caches.empty()) return code;
  if (options.repair) {
    code = merge(code, repair(options, context, caches));
  } else {
    write_report(options, context, caches);
  }
  for (const Verified& verified : caches) code = merge(code, code_of(verified, options.fail_on));
  return code;
}

void add_choices(CLI::App& command, Options& options) {
  auto* quick = command.add_flag_callback(
      "--quick", [&options] { options.depth = verify::Depth::kQuick; }, "Names, sizes and first bytes only");
  command
      .add_flag_callback(
          "--deep", [&options] { options.depth = verify::Depth::kDeep; },
          "Also tensor storages, symbols of binaries, versions that they need")
      ->excludes(quick);
  command
      .add_option_function<std::string>(
          "--against",
          [&options](const std::string& text) {
            if (auto request = verify::parse_target(text)) options.against = std::move(*request);
          },
          "Judge binaries against a machine: host, or parts of arch=sm_90,cpu=avx2|avx512|amx,torch=DIR")
      ->check([](const std::string& text) {
        const auto request = verify::parse_target(text);
        return request ? std::string() : request.error().message;
      })
      ->excludes(quick)
      ->type_name("MACHINE");
  command
      .add_option_function<std::string>(
          "--fail-on",
          [&options](const std::string& name) {
            options.fail_on = verify::parse_severity(name).value_or(verify::Severity::kError);
          },
          "Least severity that gives exit status 1: error (the default), warning or info")
      ->check(CLI::IsMember({"error", "warning", "info"}))
      ->type_name("SEVERITY");
  command
      .add_option("--compile-command", options.compile_commands,
                  "A compile command that C++ kernels may have been named with, or @FILE; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string& name) { options.sarif = name == "sarif"; },
          "sarif: SARIF 2.1.0, for CI systems")
      ->check(CLI::IsMember({"sarif"}))
      ->excludes(command.get_option("--json"))
      ->excludes(command.get_option("--jsonl"))
      ->type_name("FORMAT");
  auto* repair =
      command.add_flag("--repair", options.repair, "Move what is always safe to lose into quarantine");
  repair->excludes(command.get_option("--format"));
  command.add_flag("--dry-run", options.dry_run, "With --repair: show what would be moved")->needs(repair);
  command.add_flag("--yes", options.yes, "With --repair: don't ask")->needs(repair);
}

}  // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Check that a cache is whole");
  command
      ->add_option("TARGET", options->targets, "DIR, KEY, KEY/LEAF or a path; several may follow each other")
      ->check(not_empty("an empty path names no cache"))
      ->type_name("");
  add_common_options(*command, options->common);
  add_choices(*command, *options);
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return run_verify(*options, context); };
  });
}

}  // namespace cachetool::commands
