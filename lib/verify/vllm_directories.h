#pragma once

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Compares each index of vLLM with what lies beside it: are the artifacts there that it names, do they hold
/// the graphs it says, are others there that nothing reads, was the cache moved.
void check_vllm_directories(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
