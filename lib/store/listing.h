#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/interner.h"
#include "base/thread_pool.h"
#include "store/entry_reader.h"
#include "store/entry_row.h"
#include "store/filter.h"
#include "store/lookup.h"
#include "store/read_limits.h"
#include "store/references.h"
#include "store/source.h"

namespace cachetool::store {

enum class SortKey : std::uint8_t { kKey, kAge, kSize, kTime, kHeld, kDevice, kName, kTorch };

/// The key of that name ("key", "age", "size", "time", "held", "device", "name", "torch").
std::optional<SortKey> parse_sort_key(std::string_view name);

struct ListingOptions {
  Filter filter;
  SortKey sort = SortKey::kKey;
  bool reverse = false;
  std::size_t limit = 0;                       ///< rows to keep after sorting; 0: all
  const ReferenceIndex* references = nullptr;  ///< where held_bytes come from; null: they stay unknown
  OutcomeOf outcome_of;                        ///< empty: rows have no outcome
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
};

/// The entries of a cache, one row each.
struct Listing {
  std::vector<EntryRow> rows;  ///< all entries of the cache in scope, in the order of Source::keys
  std::vector<std::uint32_t>
      shown;  ///< indices into `rows`: what passed filter and limit, in order of printing
  ListingTotals totals;
  KeyAbbreviations abbreviations{{}};  ///< of every key in the cache
  std::vector<Skipped> skipped;        ///< places that couldn't be looked into
  bool several_leaves = false;         ///< some key has more than one entry
  std::int64_t now_ns = 0;
};

/// Reads every entry of the cache (on the pool) and keeps a summary of each: memory grows with the number of
/// entries, not with what they hold. Damaged and unreadable entries become rows; entries that vanish
/// meanwhile are left out.
Expected<Listing> make_listing(FileSystem& fs, Source& source, ThreadPool& pool, Interner& strings,
                               const ListingOptions& options);

}  // namespace cachetool::store
