#include "verify/verify.h"

#include <CLI/CLI.hpp>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "commands/verify_targets.h"
#include "report/verify_report.h"

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
  cachetool verify fvvegf7a
  cachetool verify --json | jq '.findings[] | select(.severity == "error")'
  cachetool verify --format sarif > verify.sarif

Exit status: 0 nothing of that severity, 1 findings (see --fail-on), 2 wrong usage, 3 something could not be read.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> targets;
  verify::Depth depth = verify::Depth::kDefault;
  verify::Severity fail_on = verify::Severity::kError;
  std::vector<std::string> compile_commands;
  bool sarif = false;
};

/// A cache's findings, kept until all caches were looked at.
struct Verified {
  std::shared_ptr<store::Source> source;
  verify::Result result;
};

/// Runs the checks over one target.
Expected<verify::Result> verify_target(const Options& options, Context& context, ThreadPool& pool,
                                       const VerifyTarget& target) {
  verify::Options how;
  how.depth = options.depth;
  how.limits.max_memory = options.common.max_memory;
  how.compile_commands = options.compile_commands;
  how.entries = target.entries;
  Progress progress(context, "files");
  how.progress = [&](std::uint64_t done, std::uint64_t total) { return progress.show(done, total), true; };
  return verify::verify(context.files, *target.source, pool, how);
}

ExitCode code_of(const verify::Result& result, verify::Severity fail_on) {
  for (const verify::Finding& finding : result.findings)
    if (finding.severity >= fail_on) return ExitCode::kFindings;
  return ExitCode::kDone;
}

ExitCode run_verify(const Options& options, Context& context) {
  const ErrorForm form = options.sarif ? ErrorForm::kJson : error_form(options.common);
  std::vector<VerifyTarget> targets;
  ExitCode code = resolve_targets(context, options.common, options.targets, targets);
  if (targets.empty()) return code;

  ThreadPool pool(options.common.threads);
  std::list<Verified> verified;
  report::VerifyReport report;
  report.depth = options.depth;
  report.version = CACHETOOL_VERSION;
  for (const VerifyTarget& target : targets) {
    auto result = verify_target(options, context, pool, target);
    if (!result) {
      code = merge(code, report_error(context, result.error(), form));
      continue;
    }
    const Verified& kept = verified.emplace_back(Verified{target.source, std::move(*result)});
    report.caches.push_back({kept.source->cache(), kept.result});
    code = merge(code, code_of(kept.result, options.fail_on));
    code = merge(code, report_skipped(context, kept.source->cache(), kept.result.skipped, form));
  }
  if (verified.empty()) return code;
  if (options.sarif) {
    report::write_verify_sarif(context.out, report);
  } else {
    report::write_verify(context.out, report, format_of(options.common), look_of(options.common, context));
  }
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
          "--fail-on",
          [&options](const std::string& name) {
            options.fail_on = verify::parse_severity(name).value_or(verify::Severity::kError);
          },
          "Least severity that gives exit status 1: error (the default), warning or info")
      ->check(CLI::IsMember({"error", "warning", "info"}))
      ->type_name("SEVERITY");
  command
      .add_option("--compile-command", options.compile_commands,
                  "A compile command that C++ kernels may have been named with; may be repeated")
      ->type_name("TEXT");
  command
      .add_option_function<std::string>(
          "--format", [&options](const std::string& name) { options.sarif = name == "sarif"; },
          "sarif: SARIF 2.1.0, for CI systems")
      ->check(CLI::IsMember({"sarif"}))
      ->excludes(command.get_option("--json"))
      ->excludes(command.get_option("--jsonl"))
      ->type_name("FORMAT");
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
