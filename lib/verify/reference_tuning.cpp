#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "verify/references.h"

namespace cachetool::verify {
namespace {

/// What is known of one kernel module from everything that names it.
struct Tuning {
  std::string kernel;
  FileId entry = 0;                ///< the first that names it
  std::size_t configurations = 0;  ///< the most that one autotuner of the name holds; 0 without any
  bool has_single = false;         ///< an autotuner of the name holds one: what was chosen
};

using TuningByModule = std::map<FileId, Tuning>;

using CountByName = std::unordered_map<std::string_view, std::size_t>;

void add_autotuner(const CountByName& autotuners, Tuning& tuning) {
  const auto found = autotuners.find(tuning.kernel);
  if (found == autotuners.end()) return;
  tuning.configurations = std::max(tuning.configurations, found->second);
  tuning.has_single = tuning.has_single || found->second == 1;
}

void collect(const ReferenceContext& context, FileId id, const EntryFacts& entry, TuningByModule& modules) {
  const StorePlace store = context.index.store_of_entry(id);
  for (const GraphFacts& graph : entry.graphs) {
    CountByName autotuners;
    for (const StaticKernelFacts& kernel : graph.static_kernels) ++autotuners[kernel.autotuner];
    for (const store::TritonReference& kernel : graph.links.triton_modules) {
      const auto module = context.index.module(store, kernel.module);
      if (!module) continue;
      Tuning& tuning = modules.try_emplace(*module, Tuning{kernel.name, id}).first->second;
      add_autotuner(autotuners, tuning);
    }
  }
}

/// Kernels of one configuration are never tuned. torch/_inductor/runtime/triton_heuristics.py:
/// check_autotune_cache (2.14), cached_autotune.
void judge(const ReferenceContext& context, FileId module, const Tuning& tuning) {
  const std::size_t compiled =
      context.index.directories_of_module(*context.inventory().file(module).hash).size();
  const std::size_t configurations = tuning.configurations > 0 ? tuning.configurations : compiled;
  if (configurations < 2 || tuning.has_single) return;
  FileReport report(context.inventory().root_of(module), context.inventory().path(module));
  report.set_key(entry_name(context.inventory(), tuning.entry));
  switch (context.index.is_tuned(module)) {
    case CacheIndex::Tuned::kYes:
      report.fine(checks::kAutotuneMissing);
      break;
    case CacheIndex::Tuned::kUnknown:
      report.not_checkable(
          checks::kAutotuneMissing,
          "which kernel a result is for depends on the build of torch, and that isn't known");
      break;
    case CacheIndex::Tuned::kNo:
      report.found(checks::kAutotuneMissing,
                   {tuning.kernel + " has " + std::to_string(configurations) +
                    " compiled configurations and no result; each process measures them again"});
      break;
  }
  context.report.add(std::move(report));
}

}  // namespace

void check_tuning(const ReferenceContext& context) {
  TuningByModule modules;
  for (const FileId id : entries_to_judge(context)) collect(context, id, *context.cache.entry(id), modules);
  for (const auto& [module, tuning] : modules)
    if (context.inventory().file(module).hash) judge(context, module, tuning);
}

}  // namespace cachetool::verify
