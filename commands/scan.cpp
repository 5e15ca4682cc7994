#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/units.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "report/scan_report.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(Two answers for each file. What its pickles would do when Python loads them: data (only constructors that build
data), unknown, malformed, dangerous; and which code it carries that torch runs although its pickles are pure data.
Guard expressions and symbolic strides, which torch evaluates, must be expressions of sizes. Content decides, never
the extension: caches, mega-caches, standalone artifacts, vLLM's files, .pt, .pt2, .npz, tar, gzip, zstd, and what
lies inside each other. Nothing is run. Also told: who else may write what torch executes.

Examples:
  cachetool scan
  cachetool scan download/ model.pt cache.tar.zst
  cachetool scan --json /tmp/torchinductor_me | jq '.files[] | select(.carries_code != [])'
  cachetool scan --allow-unknown --ignore-owners unpacked/

Exit status: 0 nothing speaks against the pickles (code is carried all the same, see the report), 1 dangerous, malformed
or unknown, or others may write here, 2 wrong usage, 3 nothing was scanned, or not all of it.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> paths;
  bool allow_unknown = false;
  bool ignore_owners = false;
  bool all = false;
  std::uint64_t max_file = verify::ScanLimits{}.max_file_bytes;
  std::uint64_t max_unpacked = verify::ScanLimits{}.max_expanded_bytes;
  std::uint32_t max_depth = verify::ScanLimits{}.max_depth;
};

verify::TreeScanOptions scan_options(const Options& options, const Context& context) {
  verify::TreeScanOptions scan;
  scan.limits.max_memory = options.common.max_memory;
  scan.limits.max_file_bytes = options.max_file;
  scan.limits.max_expanded_bytes = options.max_unpacked;
  scan.limits.max_depth = options.max_depth;
  scan.owners = !options.ignore_owners;
  scan.loader.uid = context.environment.uid;
  return scan;
}

// What to scan: the arguments, else --cache-dir, else what the environment says.
std::vector<std::optional<std::string>> wanted(const Options& options) {
  std::vector<std::optional<std::string>> paths(options.paths.begin(), options.paths.end());
  if (!options.common.cache_dir.empty()) paths.emplace_back(options.common.cache_dir);
  if (paths.empty()) paths.emplace_back(std::nullopt);
  return paths;
}

ExitCode code_for(const Options& options, const report::ScanSummary& summary) {
  const verify::ScanCoverage& coverage = summary.coverage;
  using verify::ScanVerdict;
  ExitCode code = ExitCode::kDone;
  if (coverage.files_of(ScanVerdict::kDangerous) + coverage.files_of(ScanVerdict::kMalformed) != 0)
    code = ExitCode::kFindings;
  if (coverage.files_of(ScanVerdict::kUnknown) != 0 && !options.allow_unknown) code = ExitCode::kFindings;
  for (const report::ScannedTarget& target : summary.targets) {
    const auto& owners = target.result.owners;
    const bool exposed = std::any_of(owners.begin(), owners.end(), [](const verify::OwnerFinding& finding) {
      return finding.check->severity == verify::Severity::kError;
    });
    if (exposed) code = merge(code, ExitCode::kFindings);
  }
  const bool partly = coverage.unscanned_parts != 0 || coverage.not_scanned != 0;
  return partly || coverage.bytes == 0 ? merge(code, ExitCode::kIncomplete) : code;
}

ExitCode scan(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  ThreadPool pool(options.common.threads);
  const auto writer =
      report::make_scan_writer(context.out, format_of(options.common), look_of(options.common, context),
                               options.all ? report::ScanRows::kAll : report::ScanRows::kFindings);
  report::ScanSummary summary;
  ExitCode code = ExitCode::kDone;
  {
    Progress progress(context, "files");
    std::uint64_t before = 0;
    verify::TreeScanOptions request = scan_options(options, context);
    request.progress = [&](std::uint64_t files) { return progress.show(before + files, 0), true; };
    for (const auto& path : wanted(options)) {
      auto target = verify::resolve_scan_target(context.files, context.environment, path);
      if (!target) {
        code = merge(code, report_error(context, target.error(), form));
        continue;
      }
      auto result =
          verify::scan_tree(context.files, *target, pool, request, [&](const verify::ScannedFile& file) {
            summary.verdict = std::max(summary.verdict, file.scan.verdict);
            writer->file(*target, file);
            return true;
          });
      if (!result) {
        code = merge(code, report_error(context, result.error(), form));
        continue;
      }
      summary.coverage.add(result->coverage);
      before = summary.coverage.files;
      summary.targets.push_back({std::move(*target), std::move(*result)});
    }
  }
  writer->finish(summary);
  return merge(code, code_for(options, summary));
}

void add_size(CLI::App& command, const std::string& name, std::uint64_t& size,
              const std::string& description) {
  command
      .add_option_function<std::string>(
          name, [&size](const std::string& text) { size = parse_size(text).value_or(size); }, description)
      ->check([](const std::string& text) {
        const auto parsed = parse_size(text);
        return parsed ? std::string() : parsed.error().message;
      })
      ->type_name("SIZE");
}

}  // namespace

void add_scan(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("scan", "Judge what loading would run");
  command->add_option("PATH", options->paths, "Files and directories; default: the cache")
      ->check(not_empty("an empty path names nothing"))
      ->type_name("");
  command->add_flag("--allow-unknown", options->allow_unknown,
                    "Unknown names alone don't make the exit status 1");
  command->add_flag("--ignore-owners", options->ignore_owners,
                    "Don't look at owners and modes: for a copy that is only looked at");
  command->add_flag("--all", options->all, "List every file, not only those that something speaks against");
  add_size(*command, "--max-file-size", options->max_file, "Larger files aren't scanned; default: 1G");
  add_size(*command, "--max-unpacked", options->max_unpacked,
           "What one file may unpack to; what is beyond it isn't scanned; default: 1G");
  command->add_option("--max-depth", options->max_depth, "Levels of things inside things; default: 16")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_common_options(*command, options->common);
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return scan(*options, context); };
  });
}

}  // namespace cachetool::commands
