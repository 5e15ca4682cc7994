#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "store/listing.h"

namespace cachetool::store {

/// Files with their sizes; hard links count once.
struct FileTally {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;            ///< apparent
  std::uint64_t allocated_bytes = 0;  ///< blocks held
};

struct CountTally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// Files by the time since they were last written.
struct AgeBucket {
  std::int64_t limit_ns = 0;  ///< younger than this; the largest number for the last one
  FileTally tally;
};

/// A tree that torch keeps outside the cache that was asked for, or another one of its roots.
struct RootTally {
  std::string role;
  std::string path;
  bool companion = false;
  FileTally tally;
};

struct OrphanTally {
  std::string kind;
  std::uint64_t units = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// What a cache holds, in sums. Trees outside the cache (see RootTally::companion) count only in `roots`.
struct Statistics {
  FileTally total;
  std::array<FileTally, kArtifactKindCount> kinds{};
  std::vector<AgeBucket> ages;
  std::vector<RootTally> roots;
  ListingTotals entries;
  std::map<std::string, CountTally> devices;     ///< entries per device
  std::map<std::string, CountTally> releases;    ///< entries per torch release
  std::vector<OrphanTally> orphans;              ///< what no entry leads to
  std::map<std::string, std::uint64_t> missing;  ///< references to what isn't there, per kind of unit
  std::vector<EntryRow> largest;                 ///< at most ten entries
  std::vector<Skipped> skipped;
  KeyAbbreviations abbreviations{{}};
  std::int64_t now_ns = 0;
};

/// Walks the cache and the trees beside it, reads every entry and links them.
Expected<Statistics> make_statistics(FileSystem& fs, Source& source, ThreadPool& pool, Interner& strings,
                                     const ReadLimits& limits, const ProgressCallback& progress);

}  // namespace cachetool::store
