#pragma once

#include <cstdint>
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
  std::string path;         ///< where it goes: the Triton cache, as far as it is known
  bool shadowed = false;    ///< a directory of that name is there already and not empty: nothing is written
  std::uint64_t files = 0;  ///< that the bundle holds for it
  std::uint64_t bytes = 0;
};

/// What loading a cached graph adds beside post-compile, before that runs.
/// torch/_inductor/codecache.py: FxGraphCache.cache_hit_post_compile (2.8; 2.6 within _lookup_graph),
/// torch/_inductor/triton_bundler.py: TritonBundler.read_and_emit.
struct OnHit {
  std::vector<std::pair<std::string, std::int64_t>> counter_deltas;  ///< added to counters["inductor"]
  std::vector<std::pair<std::string, std::int64_t>> metrics_deltas;  ///< added to torch._inductor.metrics
  std::vector<std::string> files_written;  ///< below the cache's root: the wrapper module where it is missing
  std::vector<TritonEmission> triton;      ///< in the order of the bundle
  std::uint64_t static_autotuners = 0;     ///< kernels that are loaded from the entry without Triton
};

/// What a hit on `graph` adds in the cache that `source` reads; `store` is where the entry lies. Looks at
/// files' existence only.
OnHit on_hit(const torch::CompiledFxGraph& graph, store::Source& source, std::uint16_t store,
             const Rules& rules);

}  // namespace cachetool::replay
