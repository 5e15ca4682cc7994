#include "commands/cli.h"

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "base/posix_file_system.h"
#include "commands/commands.h"
#include "commands/standard_output.h"

namespace cachetool::commands {
namespace {

constexpr const char* kAbout =
    "Inspects the caches of torch.compile without Python, torch or a GPU. Nothing from a cache is ever "
    "executed.";

constexpr const char* kFooter =
    R"(A cache is what --cache-dir names, else $TORCHINDUCTOR_CACHE_DIR, else torch's own default for this user.

Exit status: 0 done, 1 something damaged was found, 2 wrong usage, 3 could not do all of it.
'cachetool COMMAND --help' has options and examples.)";

// Options with the name of their value only: what they exclude and accept stands in their descriptions.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(24); }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    const std::string type = option->get_type_name();
    // An argument's name stands for its value.
    const std::string value = option->get_positional() ? "" : " " + type.substr(0, type.find(':'));
    return value + (option->get_expected_max() > 1 ? "..." : "");
  }
};

// A sentence for what CLI11 found wrong.
std::string parse_problem(const CLI::App& app, const CLI::ParseError& error) {
  const auto rest = app.remaining();
  if (app.get_subcommands().empty() && !rest.empty()) return "'" + rest.front() + "' is no command";
  return error.what();
}

// What to try instead.
std::string parse_hint(const CLI::App& app, const CLI::App& deepest) {
  if (&deepest != &app) return "see 'cachetool " + deepest.get_name() + " --help'";
  std::string commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  }
  return "commands: " + commands + "; see 'cachetool --help'";
}

// Was JSON asked for, as far as that can be told from a command line that may not parse?
ErrorForm wanted_form(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") break;
    if (std::string_view(argv[i]) == "--json" || std::string_view(argv[i]) == "--jsonl")
      return ErrorForm::kJson;
  }
  return ErrorForm::kText;
}

const CLI::App& deepest_parsed(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : *parsed.back();
}

ExitCode parse_and_run(int argc, char** argv, Context& context) {
  CLI::App app(kAbout, "cachetool");
  app.set_version_flag("--version", "cachetool " CACHETOOL_VERSION, "Show the version");
  app.set_help_flag("-h,--help", "Show this help");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  Invocation invocation;
  add_list(app, invocation);
  add_replay(app, invocation);
  add_cudagraphs(app, invocation);
  add_scan(app, invocation);
  add_show(app, invocation);
  add_stats(app, invocation);
  add_verify(app, invocation);
  add_doctor(app, invocation);
  add_which(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    context.out.write(app.help());
    return ExitCode::kDone;
  } catch (const CLI::CallForVersion&) {
    context.out.write("cachetool " CACHETOOL_VERSION "\n");
    return ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    if (argc <= 1) {
      context.error.write(app.help());
      return ExitCode::kUsage;
    }
    return report_error(
        context, {ErrorCode::kUsage, parse_problem(app, error), {}, {}, parse_hint(app, deepest_parsed(app))},
        wanted_form(argc, argv));
  }
  return invocation.run(context);
}

}  // namespace

int run(int argc, char** argv) {
  StreamSink out(stdout, Buffering::kWhenFull);
  StreamSink error(stderr, Buffering::kAtOnce);
  const auto files = make_posix_file_system();
  Context context{*files, out, error, detect_terminal(), store::Environment::of_process()};
  ExitCode code = ExitCode::kIncomplete;
  try {
    code = parse_and_run(argc, argv, context);
  } catch (const std::bad_alloc&) {
    // The one failure that no function returns: the machine refused memory that the budgets allow.
    const Error failure{ErrorCode::kLimitMemory,
                        "the system has no memory left",
                        {},
                        {},
                        "try a smaller --max-memory or fewer --threads"};
    report_error(context, failure, wanted_form(argc, argv));
  }
  out.flush();
  if (out.failure() != 0) {
    const Error failure{ErrorCode::kIo, std::strerror(out.failure()), "standard output", {}, {}};
    code = merge(code, report_error(context, failure, ErrorForm::kText));
  }
  return static_cast<int>(code);
}

}  // namespace cachetool::commands
