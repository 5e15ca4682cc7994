#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "store/source.h"
#include "verify/file_report.h"
#include "verify/options.h"

namespace cachetool::verify {

/// What verify says about one cache.
struct Result {
  std::vector<Finding> findings;        ///< worst first, then by check, root, path and offset
  CoverageTable coverage;               ///< every check that looked at something
  std::vector<store::Skipped> skipped;  ///< places and files that couldn't be read
  std::uint64_t files = 0;              ///< looked at
  std::uint64_t bytes = 0;              ///< their sizes
  std::uint64_t entries = 0;            ///< FX graph and AOTAutograd entries among them

  std::uint64_t count(Severity severity) const;
};

/// Runs every check over the cache that `source` stands for: each file once on the pool, then what files say
/// of each other. With a scope (CacheSet::scope) only findings about what lies in it, and about what its
/// entries lead to. A file that can't be read or is damaged never stops the run; one that vanishes meanwhile
/// is left out. Memory: about 1 KiB per file. Errors: a root that can't be listed; kInterrupted.
Expected<Result> verify(FileSystem& fs, store::Source& source, ThreadPool& pool, const Options& options);

}  // namespace cachetool::verify
