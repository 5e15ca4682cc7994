#include "store/statistics.h"

#include <algorithm>
#include <set>
#include <utility>

#include "store/skipped.h"
#include "store/words.h"
#include "torch/release.h"

namespace cachetool::store {
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::array<std::int64_t, 6> kAgeLimits{kHour,           24 * kHour,
                                                 7 * 24 * kHour,  30 * 24 * kHour,
                                                 90 * 24 * kHour, std::numeric_limits<std::int64_t>::max()};
constexpr std::size_t kLargest = 10;

void add(FileTally& tally, const FileStat& stat) {
  ++tally.files;
  tally.bytes += stat.size;
  tally.allocated_bytes += stat.allocated_bytes;
}

class Tallier final : public ArtifactSink {
 public:
  Tallier(const CacheSet& cache, Statistics& statistics, const ProgressCallback& progress)
      : cache_(cache), statistics_(statistics), progress_(progress) {
    for (const std::int64_t limit : kAgeLimits) statistics_.ages.push_back({limit, {}});
    for (const Root& root : cache.roots) {
      statistics_.roots.push_back({std::string(role_name(root.role)), root.path, root.companion, {}});
    }
  }

  bool artifact(const Artifact& artifact) override {
    if (artifact.kind == ArtifactKind::kOwnState || !artifact.stat) return true;
    const FileStat& stat = *artifact.stat;
    if (stat.links > 1 && !linked_.emplace(stat.device, stat.inode).second) return true;
    add(statistics_.roots[artifact.root].tally, stat);
    if (!cache_.roots[artifact.root].companion) {
      add(statistics_.total, stat);
      add(statistics_.kinds[static_cast<std::size_t>(artifact.kind)], stat);
      const std::int64_t age = statistics_.now_ns - stat.mtime_ns;
      const auto bucket = std::find_if(statistics_.ages.begin(), statistics_.ages.end(),
                                       [&](const AgeBucket& b) { return age < b.limit_ns; });
      if (bucket != statistics_.ages.end()) add(bucket->tally, stat);
    }
    stopped_ = progress_ && !progress_(++files_, 0);
    return !stopped_;
  }

  void skipped(const Skipped& skipped) override { statistics_.skipped.push_back(skipped); }
  bool stopped() const { return stopped_; }

 private:
  const CacheSet& cache_;
  Statistics& statistics_;
  const ProgressCallback& progress_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_;
  std::uint64_t files_ = 0;
  bool stopped_ = false;
};

void count_entry(CountTally& tally, const EntryRow& row) {
  ++tally.count;
  tally.bytes += row.bytes;
}

void add_entries(const Listing& listing, const Interner& strings, Statistics& statistics) {
  statistics.entries = listing.totals;
  statistics.abbreviations = listing.abbreviations;
  for (const std::uint32_t i : listing.shown) {
    const EntryRow& row = listing.rows[i];
    if (statistics.largest.size() < kLargest) statistics.largest.push_back(row);
    if (row.state != EntryState::kOk) continue;
    for (const std::string& device : devices_of(row.summary, strings))
      count_entry(statistics.devices[device], row);
    const std::string_view exact = strings.text(row.summary.exact_release);
    const std::string release =
        exact.empty() ? torch::family_range(row.summary.family, row.summary.family_last) : std::string(exact);
    count_entry(statistics.releases[release], row);
  }
}

void add_references(const ReferenceIndex& references, Statistics& statistics) {
  std::map<std::string, OrphanTally> orphans;
  for (const UnitId id : references.orphans()) {
    const Unit& unit = references.unit(id);
    OrphanTally& tally = orphans[std::string(unit_kind_name(unit.kind))];
    ++tally.units;
    tally.files += unit.files;
    tally.bytes += unit.bytes;
  }
  for (auto& [kind, tally] : orphans) {
    tally.kind = kind;
    statistics.orphans.push_back(tally);
  }
  for (const MissingReference& missing : references.missing()) {
    ++statistics.missing[std::string(unit_kind_name(missing.kind))];
  }
}

}  // namespace

Expected<Statistics> make_statistics(FileSystem& fs, Source& source, ThreadPool& pool, Interner& strings,
                                     const ReadLimits& limits, const ProgressCallback& progress) {
  Statistics statistics;
  statistics.now_ns = fs.now();
  Tallier tallier(source.cache(), statistics, progress);
  WalkOptions walk;
  walk.companions = true;
  if (const auto walked = source.walk(walk, tallier); !walked) return tl::unexpected(walked.error());
  if (tallier.stopped()) return fail(ErrorCode::kInterrupted, "stopped");

  ListingOptions options;
  options.sort = SortKey::kSize;
  options.limits = limits;
  options.progress = progress;
  const auto listing = make_listing(fs, source, pool, strings, options);
  if (!listing) return tl::unexpected(listing.error());
  add_entries(*listing, strings, statistics);

  const auto references = ReferenceIndex::build(source, pool);
  if (!references) return tl::unexpected(references.error());
  add_references(*references, statistics);
  // The walk sees what can't be listed or stat'ed; what can't be opened only shows when it is read.
  add_skipped(statistics.skipped, listing->skipped);
  add_skipped(statistics.skipped, skipped_besides_entries(*references));
  return statistics;
}

}  // namespace cachetool::store
