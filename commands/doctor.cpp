#include "verify/doctor/doctor.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/posix_host_file_system.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "report/doctor_report.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(Says which directory torch would use here and why, and whether that is a good place for a cache: its file system
and mount flags, free space, who may change it, whether locks work; settings that turn caches off; other caches of
this user, the processor, GPUs, torch and compilers that are found. Reads only; nothing is run or created. A DIR that
isn't there yet is judged by what lies above it. docs/checks.md explains every finding.

Examples:
  cachetool doctor
  cachetool doctor /scratch/torch-cache --fail-on warning
  cachetool doctor --json | jq -r '.directory.path'
  TMPDIR=/local cachetool doctor --no-sizes

Exit status: 0 nothing of that severity, 1 findings (see --fail-on), 2 wrong usage.)";

struct Options {
  CommonOptions common;
  std::string directory;
  bool no_sizes = false;
  verify::Severity fail_on = verify::Severity::kError;
};

ExitCode run_doctor(const Options& options, Context& context) {
  const std::string& other = options.common.cache_dir;
  if (!options.directory.empty() && !other.empty() && other != options.directory) {
    return report_error(
        context, {ErrorCode::kUsage, "DIR and --cache-dir name different places", options.directory, {}, {}},
        error_form(options.common));
  }
  const auto host = make_posix_host();
  verify::DoctorOptions how;
  how.directory = options.directory.empty() ? other : options.directory;
  how.sizes = options.no_sizes ? verify::Sizes::kLeaveOut : verify::Sizes::kMeasure;
  const verify::DoctorReport report = [&] {
    Progress progress(context, "files measured");
    how.progress = [&](std::uint64_t files) { progress.show(files, 0); };
    return verify::examine(context.files, *host, context.environment, how);
  }();
  report::write_doctor(context.out, report, format_of(options.common), look_of(options.common, context));
  for (const verify::Finding& finding : report.findings)
    if (finding.severity >= options.fail_on) return ExitCode::kFindings;
  return ExitCode::kDone;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("doctor", "Tell whether this is a good place for a cache");
  command->add_option("DIR", options->directory, "The place; default: what torch would use")
      ->check(not_empty("an empty path names no place"))
      ->type_name("");
  add_common_options(*command, options->common);
  command->add_flag("--no-sizes", options->no_sizes, "Don't add up the sizes of caches, which takes time");
  command
      ->add_option_function<std::string>(
          "--fail-on",
          [options](const std::string& name) {
            options->fail_on = verify::parse_severity(name).value_or(verify::Severity::kError);
          },
          "Least severity that gives exit status 1: error (the default), warning or info")
      ->check(CLI::IsMember({"error", "warning", "info"}))
      ->type_name("SEVERITY");
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return run_doctor(*options, context); };
  });
}

}  // namespace cachetool::commands
