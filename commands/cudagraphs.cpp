#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "commands/replay_settings.h"
#include "replay/cudagraph_report.h"
#include "report/cudagraphs_report.h"

namespace cachetool::commands {
namespace {

using replay::CudagraphState;

constexpr const char* kHelp =
    R"(Which graphs of a cache run under CUDA graphs after a hit, which don't, and why. Forward and backward stand
together, because a forward that is skipped switches CUDA graphs off for its backward.

"not evaluated" means compiled with CUDA graphs off: torch didn't look whether the graph could, and a program that
asks for them won't find the entry.

Examples:
  cachetool cudagraphs
  cachetool cudagraphs /tmp/torchinductor_me --fail-on skip,silent
  cachetool cudagraphs --jsonl | jq -r 'select(.state == "skipped") | .groups[]'

Exit status: 0 reported, 1 torch would raise, an entry is damaged or --fail-on is met, 2 wrong usage, 3 a decision
couldn't be computed or something could not be read.)";

struct Options {
  CommonOptions common;
  std::string directory;
  std::vector<std::string> settings;
  std::string release;
  std::vector<std::string> fail_on;
};

std::optional<CudagraphState> state_to_fail_on(std::string_view word) {
  if (word == "skip") return CudagraphState::kSkipped;
  if (word == "silent") return CudagraphState::kSilent;
  if (word == "not-evaluated") return CudagraphState::kNotEvaluated;
  return std::nullopt;
}

ExitCode code_of(const replay::CudagraphReport& report, const Options& options) {
  const auto has = [&](CudagraphState state) {
    return std::any_of(report.rows.begin(), report.rows.end(),
                       [&](const replay::CudagraphRow& row) { return row.state == state; });
  };
  ExitCode code = ExitCode::kDone;
  if (has(CudagraphState::kRaises)) code = merge(code, ExitCode::kFindings);
  if (has(CudagraphState::kUnknown)) code = merge(code, ExitCode::kIncomplete);
  for (const std::string& word : options.fail_on) {
    const auto state = state_to_fail_on(word);
    if (state && has(*state)) code = merge(code, ExitCode::kFindings);
  }
  return code;
}

ExitCode cudagraphs(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  const auto request = replay_options(options.common, options.settings, options.release);
  if (!request) return report_error(context, request.error(), form);
  auto source = open_cache(context, options.common, options.directory);
  if (!source) return report_error(context, source.error(), form);
  ThreadPool pool(options.common.threads);
  replay::CudagraphCollector collector;
  std::vector<store::Skipped> skipped;
  const auto done = [&] {
    Progress progress(context, "keys");
    return replay::replay_cache(
        **source, pool, *request, collector, skipped,
        [&](std::uint64_t count, std::uint64_t total) { return progress.show(count, total), true; });
  }();
  if (!done) return report_error(context, done.error(), form);
  const store::CacheSet& cache = (*source)->cache();
  report::write_cudagraphs(context.out, collector.report(), store::full_path(cache, 0, cache.scope),
                           format_of(options.common), look_of(options.common, context));
  ExitCode code = code_of(collector.report(), options);
  for (const Error& error : collector.failures()) code = merge(code, report_error(context, error, form));
  return merge(code, report_skipped(context, cache, skipped, form));
}

}  // namespace

void add_cudagraphs(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("cudagraphs", "Tell which graphs run under CUDA graphs");
  command->add_option("DIR", options->directory, "The cache, or a part of it")
      ->check(not_empty("an empty path names no cache"))
      ->type_name("");
  command
      ->add_option("--fail-on", options->fail_on,
                   "Exit with 1 where a graph is so: skip, silent or not-evaluated; several between commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& word) {
        return state_to_fail_on(word) ? std::string()
                                      : "'" + word + "' is none of skip, silent, not-evaluated";
      })
      ->type_name("STATE");
  add_setting_options(*command, options->settings, options->release);
  add_common_options(*command, options->common, OffersCsv::kYes);
  command->footer(settings_help() + "\n" + kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return cudagraphs(*options, context); };
  });
}

}  // namespace cachetool::commands
