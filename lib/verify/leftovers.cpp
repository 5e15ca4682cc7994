#include "verify/leftovers.h"

#include <algorithm>
#include <map>

#include "store/classify.h"
#include "store/paths.h"
#include "verify/entry_checks.h"
#include "verify/processes.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;
constexpr std::int64_t kDay = 24 * kHour;

/// A file, or a directory with all that is in it.
struct Leftover {
  enum class What : std::uint8_t { kTemporary, kFreshCache, kBuild, kLoadMarker, kShard, kUnreachable };
  What what = What::kTemporary;
  FileId file = 0;  ///< one of it
  std::size_t files = 0;
  std::int64_t newest_ns = 0;
};

/// The path up to and with the first component that `accept` says yes to; empty without one.
template <class Accept>
std::string_view path_to(std::string_view path, Accept accept) {
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (accept(path.substr(begin, end - begin))) return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

class Collector {
 public:
  Collector(FileSystem& fs, const CacheFacts& cache, RelationReport& report)
      : cache_(cache), inventory_(cache.inventory), report_(report), processes_(fs), now_(fs.now()) {}

  void run() {
    for (FileId id = 0; id < inventory_.files().size(); ++id)
      if (inventory_.file(id).in_scope) sort_out(id);
    for (const auto& [place, leftover] : leftovers_) tell(place.first, place.second, leftover);
  }

 private:
  using What = Leftover::What;

  /// What the file is left over from, if anything, and as part of which unit.
  void sort_out(FileId id) {
    const std::string path = inventory_.path(id);
    switch (inventory_.file(id).kind) {
      case Kind::kTemporary: {
        const std::string_view unit = path_to(path, store::is_temporary_name);
        return add(What::kTemporary, id, unit.empty() ? path : unit);
      }
      case Kind::kBuildScratch:
        return add(What::kBuild, id,
                   path_to(path, [](std::string_view name) { return name.ends_with("_CxxBuild"); }));
      case Kind::kLoadMarker:
        if (!inventory_.find(inventory_.root_of(id), library_of(path))) add(What::kLoadMarker, id, path);
        return;
      case Kind::kUnknown:
        if (is_among_entries(inventory_.directory_of(id).path))
          return add(is_misplaced_key(inventory_.directory_of(id).path) ? What::kShard : What::kUnreachable,
                     id, inventory_.directory_of(id).path);
        break;
      default:
        break;
    }
    const std::string_view fresh = path_to(path, store::is_fresh_cache_name);
    if (!fresh.empty() && fresh != path && is_inductor_place(id, fresh)) add(What::kFreshCache, id, fresh);
  }

  void add(What what, FileId id, std::string_view unit) {
    Leftover& leftover =
        leftovers_.try_emplace({inventory_.root_of(id), std::string(unit)}, Leftover{what, id}).first->second;
    ++leftover.files;
    leftover.newest_ns = std::max(leftover.newest_ns, inventory_.file(id).stat.mtime_ns);
  }

  static std::string_view library_of(std::string_view marker) {
    constexpr std::string_view kEnding = ".load_ok";
    return marker.substr(0, marker.size() - kEnding.size());
  }

  static bool is_among_entries(std::string_view directory) {
    return !path_to(directory, [](std::string_view name) {
              return name == "fxgraph" || name == "aotautograd";
            }).empty();
  }

  /// `fxgraph/<xx>/<key>`: had it been the key's shard, its files would count as entries.
  static bool is_misplaced_key(std::string_view directory) {
    const auto key = torch::HashName::parse(store::name_of(directory));
    const std::string_view above = store::directory_of(store::directory_of(directory));
    return key && key->prefix == 'f' && store::name_of(above) == "fxgraph";
  }

  bool is_inductor_place(FileId id, std::string_view unit) const {
    const store::RootRole role = inventory_.cache().roots[inventory_.root_of(id)].role;
    return role == store::RootRole::kInductor && store::directory_of(unit).empty();
  }

  void tell(std::uint32_t root, const std::string& path, const Leftover& leftover) {
    FileReport report(root, path);
    switch (leftover.what) {
      case What::kTemporary:
        temporary(report, leftover);
        break;
      case What::kFreshCache:
        if (is_settled(report, checks::kLeftoverFreshCache, leftover, kDay))
          report.found(checks::kLeftoverFreshCache,
                       {"a cache of its own, unchanged for a day" + count(leftover)});
        break;
      case What::kBuild:
        if (is_settled(report, checks::kLeftoverBuild, leftover, kHour))
          report.found(checks::kLeftoverBuild,
                       {.message = "left by a compiler" + count(leftover), .repair = {path}});
        break;
      case What::kLoadMarker:
        report.found(checks::kLeftoverLoadMarker,
                     {.message = "stands for a library that isn't there", .repair = {path}});
        break;
      case What::kShard:
        report.found(checks::kEntryShard,
                     {"lies in the shard " + std::string(store::name_of(store::directory_of(path)))});
        break;
      case What::kUnreachable:
        report.found(checks::kLeftoverUnreachable, {"isn't where torch looks for entries" + count(leftover)},
                     unreachable_severity(path));
        break;
    }
    report_.add(std::move(report));
  }

  static std::string count(const Leftover& leftover) {
    return leftover.files == 1 ? "" : ", " + std::to_string(leftover.files) + " files";
  }

  /// Whether nobody works on it any more; tells when that can't be known.
  bool is_settled(FileReport& report, const Check& check, const Leftover& leftover, std::int64_t age) const {
    if (now_ - leftover.newest_ns >= age) return true;
    report.not_checkable(check, "changed lately: a process may still be writing it");
    return false;
  }

  void temporary(FileReport& report, const Leftover& leftover) {
    const std::string_view name = store::name_of(report.path());
    const std::string_view pid = writer_of(name);
    const auto running = pid.empty() ? std::optional(false) : processes_.is_running(pid);
    const bool in_key = is_in_key(leftover.file);
    const Check& check = in_key ? checks::kLeftoverInKey : checks::kLeftoverTemporary;
    // A number is used again after a while, and a cache may be shared with other machines.
    if (!is_settled(report, check, leftover, running.value_or(false) ? kDay : kHour)) return;
    std::string message = pid.empty() ? std::string("an unfinished write")
                                      : "an unfinished write of process " + std::string(pid) +
                                            (running.value_or(false) ? ", a day old" : ", which is gone");
    const auto severity = in_key ? severity_in_key(report, name, leftover.file) : std::nullopt;
    report.found(check, {.message = message + count(leftover), .repair = {report.path()}}, severity);
  }

  /// Whether the file lies directly among a key's candidates.
  bool is_in_key(FileId id) const {
    const std::string& directory = inventory_.directory_of(id).path;
    return torch::HashName::parse(store::name_of(directory)).has_value() && is_among_entries(directory);
  }

  /// Takes the release from the candidates beside it. AOTAutograd entries up to 2.7 are opened by name,
  /// nothing else there is read.
  std::optional<Severity> severity_in_key(FileReport& report, std::string_view name, FileId id) const {
    using torch::ReleaseFamily;
    ReleaseFamily first = ReleaseFamily::kUnknown;
    ReleaseFamily last = ReleaseFamily::kUnknown;
    const Inventory::Directory& directory = inventory_.directory_of(id);
    for (FileId other = directory.first; other < directory.last; ++other) {
      const EntryFacts* entry = cache_.entry(other);
      if (entry == nullptr || entry->first == ReleaseFamily::kUnknown) continue;
      first = first == ReleaseFamily::kUnknown ? entry->first : std::min(first, entry->first);
      last = std::max(last, entry->last);
    }
    report.set_release(first, last);
    const bool by_name =
        inventory_.find(directory.root, store::join_path(directory.path, "entry")).has_value();
    if (by_name) return Severity::kInfo;
    if (!name.starts_with('.')) return Severity::kWarning;  // no release skips it
    return std::nullopt;
  }

  /// A directory inside a key's is opened as a candidate each time; what lies elsewhere is only never found.
  static Severity unreachable_severity(std::string_view directory) {
    const auto above = torch::HashName::parse(store::name_of(store::directory_of(directory)));
    return above && above->prefix != 'c' ? Severity::kWarning : Severity::kInfo;
  }

  const CacheFacts& cache_;
  const Inventory& inventory_;
  RelationReport& report_;
  Processes processes_;
  std::int64_t now_;
  std::map<std::pair<std::uint32_t, std::string>, Leftover> leftovers_;  // by root and path
};

}  // namespace

void check_leftovers(FileSystem& fs, const CacheFacts& cache, RelationReport& report) {
  Collector(fs, cache, report).run();
}

}  // namespace cachetool::verify
