#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "commands/open_cache.h"
#include "commands/options.h"
#include "commands/progress.h"
#include "commands/replay_constants.h"
#include "commands/replay_lookup.h"
#include "commands/replay_settings.h"
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
  cachetool replay
  cachetool replay fvvegf7a --set cudagraphs=on --set graph_partition=off --json
  cachetool replay fjbxpmwp --constants constants.pt
  cachetool replay fvvegf7a --hints 40,32
  cachetool replay fvvegf7a --hint s77=40 --hint s27=32

With --hints, --hint or --extern-libs-key torch's lookup of a KEY decides which candidate is replayed; a miss is a
decision too.

Exit status: 0 the decision could be computed, 1 torch would raise, or --constants is damaged or fits no graph, 2 wrong
usage, 3 it couldn't be computed.)";

struct Options {
  CommonOptions common;
  std::vector<std::string> targets;
  std::vector<std::string> settings;
  std::string release;
  std::string constants;
  LookupArguments lookup;
};

// What to replay, and how much of it a person is told.
struct Target {
  store::Selection selection;
  report::Detail detail = report::Detail::kLine;
  bool whole = false;  ///< everything in the scope of the selection's source; its entries aren't listed
  std::optional<replay::Lookup> lookup = std::nullopt;  ///< which chose the entry, if there is one
};

// A directory: its entries are found while they are replayed.
std::optional<Target> directory_target(const std::string& path, Context& context) {
  auto cache = store::resolve_cache(context.files, context.environment, path);
  if (!cache || cache->scope_is_file) return std::nullopt;
  Target target;
  target.selection.source = store::make_directory_source(context.files, std::move(*cache));
  target.whole = true;
  return target;
}

// Where an argument's entries lie. A key and a file with one entry are told in full, places with many in a
// line each.
Expected<Target> resolve(const std::string& argument, const Options& options, Context& context,
                         std::shared_ptr<store::Source>& cache) {
  if (store::names_path(context.files, context.environment, argument)) {
    if (auto directory = directory_target(argument, context)) return std::move(*directory);
    auto selection = store::select_path(context.files, context.environment, argument);
    if (!selection) return tl::unexpected(selection.error());
    const bool one = selection->source->cache().scope_is_file && selection->entries.size() < 2;
    return Target{std::move(*selection), one ? report::Detail::kAll : report::Detail::kLine};
  }
  if (!cache) {
    auto opened = open_cache(context, options.common);
    if (!opened) return tl::unexpected(opened.error());
    cache = std::move(*opened);
  }
  auto selection = store::select_key(cache, argument);
  if (!selection) return tl::unexpected(selection.error());
  return Target{std::move(*selection), report::Detail::kAll};
}

// The cache that the environment or --cache-dir names, where no argument does.
Expected<Target> whole_cache(const Options& options, Context& context) {
  auto cache = open_cache(context, options.common);
  if (!cache) return tl::unexpected(cache.error());
  Target target;
  target.selection.source = std::move(*cache);
  target.whole = true;
  return target;
}

ExitCode resolve_all(const Options& options, Context& context, std::vector<Target>& targets) {
  const ErrorForm form = error_form(options.common);
  ExitCode code = ExitCode::kDone;
  std::shared_ptr<store::Source> cache;
  const auto take = [&](Expected<Target> target) {
    if (target) return targets.push_back(std::move(*target));
    code = merge(code, report_error(context, target.error(), form));
  };
  if (options.targets.empty()) take(whole_cache(options, context));
  for (const std::string& argument : options.targets) take(resolve(argument, options, context, cache));
  return code;
}

ExitCode code_of(const replay::GraphReplay& graph) {
  if (graph.decision.callable == replay::Callable::kError) return ExitCode::kFindings;
  if (graph.decision.callable == replay::Callable::kUnknown) return ExitCode::kIncomplete;
  return ExitCode::kDone;
}

// The candidates that torch would use for each argument, all of which must be keys.
ExitCode look_up_all(const Options& options, Context& context, const replay::LookupOptions& request,
                     std::vector<Target>& targets) {
  const ErrorForm form = error_form(options.common);
  ExitCode code = ExitCode::kDone;
  std::shared_ptr<store::Source> cache;
  for (const std::string& argument : options.targets) {
    if (!cache) {
      auto opened = open_cache(context, options.common);
      if (!opened) return report_error(context, opened.error(), form);
      cache = std::move(*opened);
    }
    auto lookups = look_up(*cache, argument, request);
    if (!lookups) code = merge(code, report_error(context, lookups.error(), form));
    for (replay::Lookup& lookup : lookups.value_or(std::vector<replay::Lookup>())) {
      Target target;
      target.detail = report::Detail::kAll;
      target.lookup = std::move(lookup);
      target.selection.source = cache;
      if (target.lookup->entry) target.selection.entries.push_back(*target.lookup->entry);
      targets.push_back(std::move(target));
    }
  }
  return code;
}

class ReplayRun final : private replay::ReplaySink {
 public:
  ReplayRun(Context& context, ErrorForm form, const replay::ReplayOptions& request,
            report::ReplayWriter& writer, GivenConstants& constants)
      : context_(context), form_(form), request_(request), writer_(writer), constants_(constants) {}

  void add_whole(store::Source& source, ThreadPool& pool) {
    root_ = source.cache().roots[0].path;
    std::vector<store::Skipped> skipped;
    Progress progress(context_, "keys");
    const auto done = replay::replay_cache(source, pool, request_, *this, skipped,
                                           [&](std::uint64_t done_keys, std::uint64_t keys) {
                                             progress.show(done_keys, keys);
                                             return true;
                                           });
    if (!done) failed(done.error());
    code_ = merge(code_, report_skipped(context_, source.cache(), skipped, form_));
  }
  void add(const Target& target) {
    request_.sizes = target.lookup ? &target.lookup->sizes : nullptr;
    if (target.lookup) {
      writer_.lookup(*target.lookup);
      code_ = merge(code_, lookup_exit_code(*target.lookup));
    }
    add(target.selection);
  }
  ExitCode finish() {
    writer_.finish(summary_);
    return merge(code_, constants_.finish(context_, form_));
  }

 private:
  void add(const store::Selection& selection) {
    root_ = selection.source->cache().roots[0].path;
    for (const store::EntryRef& entry : selection.entries)
      take(replay::replay_entry(*selection.source, entry, request_));
    if (!selection.file.empty()) add_file(selection);
    code_ = merge(code_, report_skipped(context_, selection.source->cache(), selection.skipped, form_));
  }
  void add_file(const store::Selection& selection) {
    const auto entry = store::open_entry_file(*selection.source, 0, selection.file, request_.limits);
    if (!entry) return failed(entry.error());
    take(replay::replay_opened(*selection.source, *entry, request_));
  }
  void take(const Expected<std::vector<replay::GraphReplay>>& graphs) {
    if (!graphs) return failed(graphs.error());
    for (const replay::GraphReplay& item : *graphs) graph(item);
  }
  void graph(const replay::GraphReplay& graph) override {
    // Arguments may overlap: each graph is told once for each way to it.
    std::string way = (graph.aot ? graph.aot->path : std::string()) + "\n" + graph.entry.path + "\n";
    way += role_name(graph.role);  // an entry can bundle two
    if (!graph.entry.path.empty() && !seen_[root_].insert(std::move(way)).second) return;
    summary_.add(graph);
    constants_.add(graph);
    writer_.graph(graph);
    code_ = merge(code_, code_of(graph));
  }
  void failed(const Error& error) override { code_ = merge(code_, report_error(context_, error, form_)); }

  Context& context_;
  ErrorForm form_;
  replay::ReplayOptions request_;
  report::ReplayWriter& writer_;
  GivenConstants& constants_;
  report::ReplaySummary summary_;
  std::string root_;                                             // of the cache that is being replayed
  std::map<std::string, std::unordered_set<std::string>> seen_;  // root → ways to graphs
  ExitCode code_ = ExitCode::kDone;
};

ExitCode replay_command(const Options& options, Context& context) {
  const ErrorForm form = error_form(options.common);
  auto request = replay_options(options.common, options.settings, options.release);
  if (!request) return report_error(context, request.error(), form);
  GivenConstants constants;
  if (const auto read = constants.read(context, options.common, options.constants); !read)
    return report_error(context, read.error(), form);
  request->constants = constants.values();
  std::vector<Target> targets;
  ExitCode code = ExitCode::kDone;
  if (options.lookup.given()) {
    const auto lookups = lookup_options(context, options.lookup, *request, options.targets);
    if (!lookups) return report_error(context, lookups.error(), form);
    request->extern_libs = lookups->extern_libs;
    code = look_up_all(options, context, *lookups, targets);
  } else {
    code = resolve_all(options, context, targets);
  }
  if (targets.empty()) return code;
  const bool in_full = std::all_of(targets.begin(), targets.end(), [](const Target& target) {
    return target.detail == report::Detail::kAll;
  });
  const auto writer = report::make_replay_writer(
      context.out, targets.front().selection.source->cache().roots[0].path, format_of(options.common),
      look_of(options.common, context), in_full ? report::Detail::kAll : report::Detail::kLine);
  ReplayRun run(context, form, *request, *writer, constants);
  ThreadPool pool(options.common.threads);
  for (const Target& target : targets) {
    if (target.whole) {
      run.add_whole(*target.selection.source, pool);
    } else {
      run.add(target);
    }
  }
  return merge(code, run.finish());
}

}  // namespace

void add_replay(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "What torch does with a cached graph");
  command
      ->add_option("ENTRY", options->targets,
                   "KEY, KEY/LEAF, a prefix of either, a file or a directory; default: the whole cache")
      ->type_name("");
  add_setting_options(*command, options->settings, options->release);
  add_constants_option(*command, options->constants);
  add_lookup_options(*command, options->lookup);
  add_common_options(*command, options->common);
  command->footer(settings_help() + "\n" + kHelp);
  command->callback([options, &invocation] {
    invocation.run = [options](Context& context) { return replay_command(*options, context); };
  });
}

}  // namespace cachetool::commands
