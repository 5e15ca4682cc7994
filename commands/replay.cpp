#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "replay/replay.h"
#include "report/replay_report.h"
#include "store/selection.h"

namespace cachetool::commands {
namespace {

constexpr const char* kHelp =
    R"(What torch does with a cached graph after it found it: whether it runs under a CUDA graph or not, why, what is
logged and counted, which inputs are realigned. Computed from the entry; nothing is executed.

Examples:
  cachetool replay fvvegf7a
  cachetool replay /tmp/torchinductor_me
  cachetool replay fvvegf7a --set cudagraphs=on --set graph_partition=off --json

Exit status: 0 the decision could be computed, 1 torch would raise, 2 wrong usage, 3 it couldn't be computed.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> targets;
  std::vector<std::string> settings;
  std::string release;
};

// Where an argument's entries lie.
Expected<store::Selection> select(const std::string& target, const Options& options, Context& context,
                                  std::shared_ptr<store::Source>& cache) {
  if (store::names_path(context.files, context.environment, target))
    return store::select_path(context.files, context.environment, target);
  if (!cache) {
    auto opened = open_cache(context, options.common);
    if (!opened) return tl::unexpected(opened.error());
    cache = std::move(*opened);
  }
  return store::select_key(cache, target);
}

ExitCode code_of(const replay::GraphReplay& graph) {
  if (graph.decision.callable == replay::Callable::kError) return ExitCode::kFindings;
  if (graph.decision.callable == replay::Callable::kUnknown) return ExitCode::kIncomplete;
  return ExitCode::kDone;
}

ExitCode replay_command(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  replay::ReplayOptions request;
  for (const std::string& setting : options.settings) {
    if (const auto added = request.settings.add(setting); !added)
      return report_error(context, added.error(), form);
  }
  request.release = torch::family_of_version(options.release);
  request.limits.max_memory = options.common.max_memory;
  std::shared_ptr<store::Source> cache;
  ExitCode code = ExitCode::kDone;
  std::vector<store::Selection> selections;
  for (const std::string& target : options.targets) {
    auto selection = select(target, options, context, cache);
    if (!selection) {
      code = merge(code, report_error(context, selection.error(), form));
      continue;
    }
    selections.push_back(std::move(*selection));
  }
  if (selections.empty()) return code;
  const auto writer =
      report::make_replay_writer(context.out, selections.front().source->cache().roots[0].path,
                                 format_of(options.common), look_of(options.common, context));
  report::ReplaySummary summary;
  for (const store::Selection& selection : selections) {
    for (const store::EntryRef& entry : selection.entries) {
      const auto graphs = replay::replay_entry(*selection.source, entry, request);
      if (!graphs) {
        code = merge(code, report_error(context, graphs.error(), form));
        continue;
      }
      for (const replay::GraphReplay& graph : *graphs) {
        summary.add(graph);
        writer->graph(graph);
        code = merge(code, code_of(graph));
      }
    }
  }
  writer->finish(summary);
  return code;
}

}  // namespace

void add_replay(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "What torch does with a cached graph");
  command
      ->add_option("ENTRY", options->targets,
                   "KEY, KEY/LEAF, a prefix of either, or a path; several may follow each other")
      ->required()
      ->type_name("");
  command->add_option("--set", options->settings, "A setting of the caller; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command
      ->add_option("--torch-release", options->release, "Follow the rules of this release, not the entry's")
      ->type_name("RELEASE");
  add_common_options(*command, options->common);
  command->footer(kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return replay_command(*options, context); };
  });
}

}  // namespace cachetool::commands
