#pragma once

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Tells of files that no studied release of torch, Triton or vLLM writes where they are; one finding for
/// each directory.
void check_unknown_files(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
