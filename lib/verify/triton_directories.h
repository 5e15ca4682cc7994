#pragma once

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Compares the files of each Triton directory with each other: is all there that its group names, where do
/// the group's paths point, was it ever finished, is the binary for the GPU that the metadata says.
void check_triton_directories(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
