#pragma once

#include <vector>

#include "verify/doctor/doctor.h"

namespace cachetool::verify {

/// Looks at the cache that was chosen, and at the directories outside it in which torch, Triton and vLLM keep
/// files here: the default root, TRITON_CACHE_DIR, VLLM_CACHE_ROOT.
std::vector<Place> look_at_places(FileSystem& fs, HostSystem& host, const store::Environment& environment,
                                  const CacheChoice& choice);

}  // namespace cachetool::verify
