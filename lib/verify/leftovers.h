#pragma once

#include "verify/cache_facts.h"
#include "verify/leftover_checks.h"

namespace cachetool::verify {

/// Unfinished writes, working directories, markers and files that torch never finds. A RelationCheck. What
/// may still be in use is left alone: younger than an hour, or of a process that runs and younger than a day.
void check_leftovers(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

/// Lock files: who holds them. A RelationCheck.
void check_locks(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
