#pragma once

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Compares the names of C++ sources with their texts, once a compile command is accepted: one that was
/// handed over or put together, and that fits at least one source. See docs/checks.md, cpp-source.name.
void check_cpp_names(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
