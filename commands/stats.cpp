#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "report/stats_report.h"
#include "store/statistics.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(Files and bytes by kind, by age, by device and by torch release, the compile time that the cache stands for,
what no entry leads to, the largest entries, and the trees that torch keeps for the user outside a cache of its own
(precompiled headers, benchmark results). Sizes are those of regular files, hard links once.

Examples:
  cachetool stats
  cachetool stats /tmp/torchinductor_me --bytes
  cachetool stats --json | jq '.orphans'

Exit status: 0 done (an empty cache too), 1 an entry is damaged, 2 wrong usage, 3 something could not be read.)";

struct Options {
  CommonOptions common;
  std::string directory;
};

ExitCode stats(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  auto source = open_cache(context, options.common, options.directory);
  if (!source) return report_error(context, source.error(), form);
  ThreadPool pool(options.common.threads);
  Interner strings;
  store::ReadLimits limits;
  limits.max_memory = options.common.max_memory;
  const auto statistics = [&] {
    Progress progress(context, "files and entries");
    return store::make_statistics(
        context.files, **source, pool, strings, limits,
        [&](std::uint64_t done, std::uint64_t total) { return progress.show(done, total), true; });
  }();
  if (!statistics) return report_error(context, statistics.error(), form);
  const store::CacheSet& cache = (*source)->cache();
  report::write_stats(context.out, {cache, *statistics, strings}, format_of(options.common),
                      look_of(options.common, context));
  ExitCode code = report_skipped(context, cache, statistics->skipped, form);
  if (statistics->entries.damaged != 0) code = merge(code, ExitCode::kFindings);
  if (statistics->entries.unreadable != 0) code = merge(code, ExitCode::kIncomplete);
  return code;
}

}  // namespace

void add_stats(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stats", "Sum up what a cache holds");
  command->add_option("DIR", options->directory, "The cache, or a part of it")
      ->check(not_empty("an empty path names no cache"))
      ->type_name("");
  add_common_options(*command, options->common);
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return stats(*options, context); };
  });
}

}  // namespace cachetool::commands
