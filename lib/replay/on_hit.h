#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/rules.h"
#include "store/source.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// A Triton kernel directory of the entry's bundle, as torch treats it when it loads the entry.
struct TritonEmission {
  std::string kernel_hash;  ///< name of the directory
  std::int64_t device = 0;
  std::string path;  ///< where it goes: below the cache's root, absolute outside it, empty where unknown
  /// A directory of that name is there already and not empty, so nothing is written; nothing where the
  /// place can't be looked into.
  std::optional<bool> shadowed;
  std::uint64_t files = 0;  ///< that the bundle holds for it
  std::uint64_t bytes = 0;
};

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

/// What loading a cached graph adds beside post-compile, before that runs.
/// torch/_inductor/codecache.py: FxGraphCache.cache_hit_post_compile (2.8; 2.6 within _lookup_graph),
/// torch/_inductor/triton_bundler.py: TritonBundler.read_and_emit.
struct OnHit {
  Counts counter_deltas;  ///< as the entry stores them, added to counters["inductor"]
  Counts metrics_deltas;  ///< likewise, added to the globals of torch._inductor.metrics
  Counts counters;        ///< increments that the load makes itself: "fxgraph_cache_hit",
                          ///< "triton_bundler_read_and_emit_kernel" (one per file),
                          ///< "triton_bundler_load_static_autotuner", "fxgraph_lookup_write_file"
  std::vector<std::string> files_written;   ///< below the cache's root: the wrapper module where it is
                                            ///< missing, binaries that a static launcher restores
  std::vector<TritonEmission> triton;       ///< in the order of the bundle
  std::uint64_t static_autotuners = 0;      ///< that the entry holds: kernels that are loaded without Triton
  std::vector<std::string> static_missing;  ///< those whose binary torch doesn't find: compiled again
  /// False where it can't be known which files are there (a packed entry, a place outside the cache):
  /// `counters` then lacks what depends on them.
  bool files_known = true;
};

/// Which object holds the graph.
enum class HeldBy : std::uint8_t {
  kFxEntry,   ///< an entry of its own: FxGraphCache.load_with_key
  kAotEntry,  ///< bundled in an AOTAutograd entry: BundledOutputCodeLoadable (2.8)
};

/// How a graph is found, and what else was loaded before it.
struct Hit {
  HeldBy held_by = HeldBy::kFxEntry;
  std::optional<std::uint16_t> store;  ///< where the entry lies; nothing for one that lies in no cache
  /// Full paths of files and Triton directories that graphs loaded before by the same caller wrote; what this
  /// one writes is added. May be null.
  std::set<std::string>* written = nullptr;
};

/// What a hit on `graph` adds in the cache that `source` reads. Looks at files' existence only. Bundles are
/// emitted and static launchers loaded unless the entry's key says that its users have that switched off.
OnHit on_hit(const torch::CompiledFxGraph& graph, store::Source& source, const Hit& hit, const Rules& rules);

}  // namespace cachetool::replay
