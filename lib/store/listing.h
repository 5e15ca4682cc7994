#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/interner.h"
#include "base/thread_pool.h"
#include "store/entry_row.h"
#include "store/filter.h"
#include "store/lookup.h"
#include "store/references.h"
#include "store/source.h"

namespace cachetool::store {

enum class SortKey : std::uint8_t { kKey, kAge, kSize, kTime, kHeld, kDevice, kName, kTorch };

/// The key of that name ("key", "age", "size", "time", "held", "device", "name", "torch").
std::optional<SortKey> parse_sort_key(std::string_view name);

/// Told after every few entries; both counts only grow.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// How entries are read.
struct ReadLimits {
  std::uint64_t max_memory = 0;  ///< for decoding one entry; 0: Budget::for_input
  std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;
  std::function<bool()> stop;  ///< asked between entries; true ends the work with kInterrupted
};

struct ListingOptions {
  Filter filter;
  SortKey sort = SortKey::kKey;
  bool reverse = false;
  std::size_t limit = 0;  ///< rows to keep after sorting; 0: all
  bool held = false;      ///< compute held_bytes (reads the whole cache for its references)
  ReadLimits limits;
  ProgressCallback progress;
};

struct ListingTotals {
  std::uint64_t entries = 0;  ///< that the filter let through, also those beyond the limit
  std::uint64_t fx_graphs = 0;
  std::uint64_t aot_entries = 0;
  std::uint64_t damaged = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t bytes = 0;
  std::int64_t compile_time_ns = 0;  ///< nothing twice; see attribute_compile_time
  std::int64_t held_bytes = 0;       ///< where asked for
};

/// The entries of a cache, one row each.
struct Listing {
  std::vector<EntryRow> rows;  ///< all entries of the cache in scope, in the order of Source::keys
  std::vector<std::uint32_t> shown;  ///< indices into `rows`: what passed filter and limit, in order of printing
  ListingTotals totals;
  std::vector<Skipped> skipped;  ///< places that couldn't be looked into
  bool several_leaves = false;   ///< some key has more than one entry
  std::int64_t now_ns = 0;
};

/// Reads every entry of the cache (on the pool) and keeps a summary of each: memory grows with the number of entries, not
/// with what they hold. Damaged and unreadable entries become rows; entries that vanish meanwhile are left out.
Expected<Listing> make_listing(FileSystem& fs, Source& source, ThreadPool& pool, Interner& strings,
                               const ListingOptions& options);

/// Does the row count in the listing's compile time? Not when an entry that is listed too contains it.
bool counts_time(const Listing& listing, const EntryRow& row, const std::vector<bool>& passed);

}  // namespace cachetool::store
