#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/source.h"

namespace cachetool::store {

/// Where Triton's kernel directories lie for the graphs of one store.
struct TritonHome {
  std::string path;  ///< below `root`; absolute where it lies in none of the set's roots
  std::optional<std::uint32_t> root;
};

/// The directory that torch, running on this store, hands to Triton for kernels of `device`:
/// TRITON_CACHE_DIR where it is set for the cache, `triton/<device>` otherwise, or what those set who make
/// the store: vLLM (triton_cache beside inductor_cache) and torch's fresh caches (triton, without a level per
/// device). Nothing where none of these tells: for entries in packed files, and for a vLLM cache without
/// triton_cache. torch/_inductor/runtime/cache_dir_utils.py: triton_cache_dir (2.8);
/// torch/_inductor/utils.py: fresh_cache (2.9); vllm/compilation/compiler_interface.py:
/// InductorAdaptor.initialize_cache (0.11).
std::optional<TritonHome> triton_home(Source& source, std::uint16_t store, std::int64_t device);

}  // namespace cachetool::store
