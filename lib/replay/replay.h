#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "replay/constants_report.h"
#include "replay/cudagraph_state.h"
#include "replay/decision.h"
#include "replay/graph_inputs.h"
#include "replay/graph_lookup.h"
#include "replay/hints.h"
#include "replay/on_hit.h"
#include "replay/run_time.h"
#include "replay/settings.h"
#include "store/opened_entry.h"
#include "store/read_limits.h"
#include "store/source.h"

namespace cachetool::replay {

class SuppliedValues;

struct ReplayOptions {
  const SizeValues* sizes = nullptr;  ///< of the caller's inputs; null: not given. See GraphContext
  ExternLibsKey extern_libs;
  SettingOverrides settings;
  torch::ReleaseFamily release = torch::ReleaseFamily::kUnknown;  ///< kUnknown: each entry's own
  store::ReadLimits limits;
  const SuppliedValues* constants = nullptr;  ///< --constants; null: none
};

enum class Role : std::uint8_t { kForward, kBackward, kInference, kUnknown };
/// "forward", "backward", "inference"; "unknown" for a graph that doesn't say.
std::string_view role_name(Role role);

/// An entry as reports name it.
struct EntryPlace {
  std::string key;  ///< in full
  std::string leaf;
  std::string path;  ///< below the cache's root
};

/// What torch would do with one cached graph after it found it. Owns everything.
struct GraphReplay {
  EntryPlace entry;  ///< that holds the graph: an FX entry, or the AOTAutograd entry that bundles it
  std::optional<EntryPlace> aot;  ///< the AOTAutograd entry through which the graph was reached
  Role role = Role::kUnknown;
  std::string class_name;                                       ///< "CompiledFxGraph"
  torch::Release release;                                       ///< that wrote the entry, as far as it tells
  torch::ReleaseFamily rules = torch::ReleaseFamily::kUnknown;  ///< whose rules were followed
  std::int64_t compile_time_ns = -1;
  Evaluated evaluated = Evaluated::kNo;
  Settings settings;
  Boxes before;  ///< what post-compile was called with
  /// A backward whose forward was asked for CUDA graphs and left the box off: the forward's state and
  /// reasons.
  std::optional<CudagraphState> forward_state;
  std::vector<std::string> forward_reasons;
  std::vector<GraphInput> inputs;
  Decision decision;
  OnHit on_hit;
  ConstantsReport constants;
  std::vector<RunTimeNote> run_time;
  std::vector<std::string> nested_graphs;  ///< RegionalOutputCode: what it holds, as far as it can be seen
  std::vector<std::string> assumptions;    ///< sentences: what was taken for granted to get there
  /// False for a graph that replay_cache reports more than once, where this isn't the item that totals are
  /// made of: one for each AOTAutograd entry that names it (the first counts), and once more by itself where
  /// torch, after a miss on the pair, looks for the graph alone.
  bool counted = true;
};

/// What torch would do with the graphs of one entry: one for an FX entry, up to two for an AOTAutograd entry,
/// decided in torch's order with the same boxes (torch/_functorch/_aot_autograd/aot_autograd_result.py:
/// _load_and_post_compile, 2.15). The backward of a pair is decided after its forward also when only the
/// backward was asked for, where an AOTAutograd entry of the cache names both and the forward is there. A
/// graph that an entry names and that isn't there is a GraphReplay of callable kUnknown that says so, and
/// from 2.8 on, where torch loads both before it decides about either, its partner too. Errors: those of
/// open_entry; kUsage when constants are supplied for an AOTAutograd entry, which never uses them.
Expected<std::vector<GraphReplay>> replay_entry(store::Source& source, const store::EntryRef& entry,
                                                const ReplayOptions& options);

/// The same for an entry that was opened already, also one that lies in no cache.
Expected<std::vector<GraphReplay>> replay_opened(store::Source& source, const store::OpenedEntry& entry,
                                                 const ReplayOptions& options);

/// What happens to each entry of a cache.
class ReplaySink {
 public:
  virtual ~ReplaySink() = default;
  virtual void graph(const GraphReplay& graph) = 0;
  virtual void failed(const Error& error) = 0;  ///< an entry that can't be read or decoded
};

/// Every graph of the cache in scope: those of AOTAutograd entries first, each entry's together, then the FX
/// graphs that none of them names; both in the order of Source::keys. A graph is in scope when its own entry
/// is, or the AOTAutograd entry that it was reached through; the latter may lie outside. An FX graph that
/// several AOTAutograd entries name is reported for each (see GraphReplay::counted). A damaged entry goes to
/// the sink and doesn't stop the run; one that vanishes meanwhile is left out. `progress` counts keys. What
/// can't be looked into goes to `skipped`. Works on `pool`, calls the sink on this thread. Memory: some 64
/// entries at a time and a path for each FX graph that was paired. Errors: kInterrupted.
Status replay_cache(store::Source& source, ThreadPool& pool, const ReplayOptions& options, ReplaySink& sink,
                    std::vector<store::Skipped>& skipped, const store::ProgressCallback& progress = {});

}  // namespace cachetool::replay
