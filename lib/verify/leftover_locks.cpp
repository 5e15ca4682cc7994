#include <algorithm>

#include "store/paths.h"
#include "verify/leftovers.h"
#include "verify/processes.h"

namespace cachetool::verify {
namespace {

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;

/// What the lock files of one root come to.
struct LockCount {
  std::size_t free = 0;
  std::size_t presence = 0;  ///< old ones where the file system knows no flock: there, the file is the lock
  FileId first_free = 0;
  FileId first_presence = 0;
};

class Locks {
 public:
  Locks(FileSystem& fs, const CacheFacts& cache, RelationReport& report)
      : fs_(fs),
        inventory_(cache.inventory),
        report_(report),
        processes_(fs),
        now_(fs.now()),
        counts_(cache.inventory.cache().roots.size()) {}

  void run() {
    for (const Inventory::Directory& directory : inventory_.directories()) {
      DirHandle handle;
      for (FileId id = directory.first; id < directory.last; ++id) {
        const Inventory::File& file = inventory_.file(id);
        if (file.kind != store::ArtifactKind::kLock || !file.in_scope) continue;
        if (!handle) {
          auto opened =
              store::open_below(fs_, inventory_.cache().roots[directory.root].directory, directory.path);
          if (!opened) break;
          handle = std::move(*opened);
        }
        look_at(id, *handle);
      }
    }
    for (std::uint32_t root = 0; root < counts_.size(); ++root) tell(root, counts_[root]);
  }

 private:
  bool is_old(FileId id) const { return now_ - inventory_.file(id).stat.mtime_ns >= kHour; }

  void look_at(FileId id, const Directory& directory) {
    const auto name = Name::parse(inventory_.file(id).name);
    if (!name) return;
    LockCount& count = counts_[inventory_.root_of(id)];
    const auto lock = fs_.try_lock(directory, *name, LockMode::kShared);
    if (!lock) {
      if (lock.error().code == ErrorCode::kLocked) return held(id);
      // torch's filelock then takes the file's being there for the lock.
      if (lock.error().code == ErrorCode::kIo && is_old(id) && count.presence++ == 0)
        count.first_presence = id;
      return;
    }
    if (owner_is_gone(id, directory, *name)) return abandoned(id);
    if (count.free++ == 0) count.first_free = id;
  }

  void held(FileId id) {
    FileReport report(inventory_.root_of(id), inventory_.path(id));
    report.fine(checks::kLockFree);
    report_.add(std::move(report));
  }

  /// torch's own lock files are empty. A presence lock that names its owner begins with the process's number.
  bool owner_is_gone(FileId id, const Directory& directory, const Name& name) {
    constexpr std::uint64_t kMaxBytes = 512;
    const std::uint64_t size = inventory_.file(id).stat.size;
    if (size == 0 || size > kMaxBytes || !is_old(id)) return false;
    std::string text;
    if (!read_file(fs_, directory, name, kMaxBytes, text)) return false;
    const auto running =
        processes_.is_running(std::string_view(text).substr(0, text.find_first_not_of("0123456789")));
    return running.has_value() && !*running;
  }

  void abandoned(FileId id) {
    FileReport report(inventory_.root_of(id), inventory_.path(id));
    report.found(checks::kLockAbandoned, {"names a process that is gone as its owner"});
    report_.add(std::move(report));
  }

  void tell(std::uint32_t root, const LockCount& count) {
    if (count.free > 0) {
      FileReport report(root, inventory_.directory_of(count.first_free).path);
      report.found(checks::kLockFree,
                   {std::to_string(count.free) + (count.free == 1 ? " lock file" : " lock files") +
                    " that nobody holds"});
      report_.add(std::move(report));
    }
    if (count.presence > 0) {
      FileReport report(root, inventory_.directory_of(count.first_presence).path);
      report.found(
          checks::kLockAbandoned,
          {std::to_string(count.presence) +
           " lock files over an hour old where the file system knows no locks: there, being there is the "
           "lock"});
      report_.add(std::move(report));
    }
  }

  FileSystem& fs_;
  const Inventory& inventory_;
  RelationReport& report_;
  Processes processes_;
  std::int64_t now_;
  std::vector<LockCount> counts_;
};

}  // namespace

void check_locks(FileSystem& fs, const CacheFacts& cache, RelationReport& report) {
  Locks(fs, cache, report).run();
}

}  // namespace cachetool::verify
