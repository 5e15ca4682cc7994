#include "store/listing.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "store/buffer_pool.h"
#include "store/compile_time.h"
#include "store/entry_reader.h"
#include "store/words.h"

namespace cachetool::store {
namespace {

constexpr std::array<std::pair<std::string_view, SortKey>, 8> kSortKeys{{
    {"key", SortKey::kKey},
    {"age", SortKey::kAge},
    {"size", SortKey::kSize},
    {"time", SortKey::kTime},
    {"held", SortKey::kHeld},
    {"device", SortKey::kDevice},
    {"name", SortKey::kName},
    {"torch", SortKey::kTorch},
}};

// Entries between reading and being kept: enough to keep every worker busy.
constexpr std::size_t kWindow = 512;

Status read_rows(Source& source, ThreadPool& pool, Interner& strings, const ListingOptions& options,
                 Listing& listing) {
  const std::vector<KeyRef> keys = source.keys(listing.skipped);
  listing.abbreviations = KeyAbbreviations(keys);
  const std::size_t window = std::min(kWindow, std::max<std::size_t>(keys.size(), 1));
  std::vector<KeyRows> slots(window);
  BufferPool buffers;
  listing.rows.reserve(keys.size());
  bool stopped = false;
  ordered_parallel(
      pool, keys.size(), window,
      [&](std::size_t i) {
        std::string buffer = buffers.take();
        read_key(source, keys[i], options.limits, options.outcome_of, strings, buffer, slots[i % window]);
        buffers.put(std::move(buffer));
      },
      [&](std::size_t i) {
        KeyRows& slot = slots[i % window];
        listing.several_leaves |= slot.rows.size() > 1;
        listing.rows.insert(listing.rows.end(), slot.rows.begin(), slot.rows.end());
        std::move(slot.skipped.begin(), slot.skipped.end(), std::back_inserter(listing.skipped));
        if (options.progress && !options.progress(i + 1, keys.size())) stopped = true;
        return !stopped;
      });
  if (stopped) return fail(ErrorCode::kInterrupted, "stopped");
  return {};
}

void fill_held_bytes(const CacheSet& cache, const ReferenceIndex& references, const Interner& strings,
                     std::vector<EntryRow>& rows) {
  for (EntryRow& row : rows) {
    const auto unit = references.find(cache.stores[row.store].root, entry_path(cache, row, strings));
    if (unit) row.held_bytes = static_cast<std::int64_t>(references.held_bytes(*unit));
  }
}

// Is `a` to be printed before `b`? Large, slow and young ones come first; texts in their order.
bool comes_before(const EntryRow& a, const EntryRow& b, SortKey key, const Interner& strings) {
  switch (key) {
    case SortKey::kKey:
      return a.summary.key < b.summary.key;
    case SortKey::kAge:
      return a.modified_ns > b.modified_ns;
    case SortKey::kSize:
      return a.bytes > b.bytes;
    case SortKey::kTime:
      return a.compile_time_ns > b.compile_time_ns;
    case SortKey::kHeld:
      return a.held_bytes > b.held_bytes;
    case SortKey::kDevice:
      return devices_of(a.summary, strings) < devices_of(b.summary, strings);
    case SortKey::kName:
      return strings.text(a.summary.graph_name) < strings.text(b.summary.graph_name);
    case SortKey::kTorch: {
      if (a.summary.family != b.summary.family) return a.summary.family < b.summary.family;
      return strings.text(a.summary.exact_release) < strings.text(b.summary.exact_release);
    }
  }
  return false;
}

void add_to_totals(const EntryRow& row, ListingTotals& totals) {
  ++totals.entries;
  ++(row.summary.kind == torch::EntryKind::kFxGraph ? totals.fx_graphs : totals.aot_entries);
  if (row.state == EntryState::kDamaged) ++totals.damaged;
  if (row.state == EntryState::kUnreadable) ++totals.unreadable;
  totals.bytes += row.bytes;
  if (row.compile_time_ns > 0 && !row.contained) totals.compile_time_ns += row.compile_time_ns;
}

}  // namespace

std::optional<SortKey> parse_sort_key(std::string_view name) {
  const auto found = std::find_if(kSortKeys.begin(), kSortKeys.end(),
                                  [&](const auto& known) { return known.first == name; });
  return found == kSortKeys.end() ? std::nullopt : std::optional(found->second);
}

Expected<Listing> make_listing(FileSystem& fs, Source& source, ThreadPool& pool, Interner& strings,
                               const ListingOptions& options) {
  Listing listing;
  listing.now_ns = fs.now();
  if (const auto read = read_rows(source, pool, strings, options, listing); !read) {
    return tl::unexpected(read.error());
  }
  attribute_compile_time(listing.rows);
  if (options.references != nullptr)
    fill_held_bytes(source.cache(), *options.references, strings, listing.rows);

  std::vector<bool> passed(listing.rows.size());
  for (std::size_t i = 0; i < passed.size(); ++i) {
    passed[i] = options.filter.matches(listing.rows[i], strings, listing.now_ns);
    if (passed[i]) listing.shown.push_back(static_cast<std::uint32_t>(i));
  }
  for (const std::uint32_t i : listing.shown) {
    EntryRow& row = listing.rows[i];
    row.contained = row.claimed_by != EntryRow::kUnclaimed && passed[row.claimed_by];
    add_to_totals(row, listing.totals);
  }
  if (options.sort != SortKey::kKey) {
    std::sort(listing.shown.begin(), listing.shown.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (comes_before(listing.rows[a], listing.rows[b], options.sort, strings)) return true;
      return !comes_before(listing.rows[b], listing.rows[a], options.sort, strings) && a < b;
    });
  }
  if (options.reverse) std::reverse(listing.shown.begin(), listing.shown.end());
  if (options.limit != 0 && listing.shown.size() > options.limit) listing.shown.resize(options.limit);
  return listing;
}

}  // namespace cachetool::store
