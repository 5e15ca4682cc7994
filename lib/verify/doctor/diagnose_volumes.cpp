#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/units.h"
#include "verify/doctor/diagnosis.h"
#include "verify/place_checks.h"

namespace cachetool::verify {
namespace {

// One precompiled header takes up to 350 MB; a cache of a few models some hundred megabytes.
constexpr std::uint64_t kLittleSpace = std::uint64_t{2} << 30;
constexpr std::uint64_t kNoSpace = std::uint64_t{64} << 20;
// A model of a hundred graphs makes a few thousand files.
constexpr std::uint64_t kFewInodes = 20'000;
constexpr std::uint64_t kNoInodes = 1'000;

/// The command that changes a mount; empty where the mount isn't known.
std::string remount(const Volume& volume, std::string_view option) {
  if (volume.mount_point.empty()) return {};
  return fmt::format("mount -o remount,{} {}", option, shell_word(volume.mount_point));
}

/// What one file system does to a place. Said once per file system, however many places lie on it.
class VolumeDiagnosis {
 public:
  explicit VolumeDiagnosis(Diagnosis& diagnosis) : diagnosis_(diagnosis) {}

  void look_at(const Place& place) {
    diagnose_writing(place);
    if (!place.volume) return;
    const Volume& volume = *place.volume;
    if (volume.space.no_exec && place.holds_code) {
      add(checks::kPlaceNoExec, place,
          "shared objects can't be loaded from here: CPU kernels and Triton's launchers fail with \"failed "
          "to map "
          "segment from shared object\"",
          remount(volume, "exec"));
    }
    diagnose_space(place, volume);
    diagnose_kind(place, volume);
    if (volume.case_sensitive == false) {
      add(checks::kPlaceCaseInsensitive, place,
          "names of Triton 3.2 (torch 2.6) are in mixed case: two that differ by case alone would be one");
    }
    if (volume.no_atime) {
      add(checks::kPlaceNoAtime, place,
          "it is mounted noatime: removing entries by their last use would go by the time they were written");
    }
  }

 private:
  void add(const Check& check, const Place& place, std::string message, std::string hint = {}) {
    const std::string where =
        place.volume && !place.volume->mount_point.empty() ? place.volume->mount_point : place.walk.existing;
    if (!said_.emplace(check.id, where).second) return;
    diagnosis_.add(check, place.walk.real, std::move(message), std::move(hint));
  }

  void diagnose_writing(const Place& place) {
    if (place.volume && place.volume->kind == VolumeKind::kKernel) {
      add(checks::kPlaceNotWritable, place,
          fmt::format(
              "{} shows what the kernel knows and holds no files of programs: torch's first write ends "
              "in an OSError",
              place.volume->type));
    } else if (place.volume && place.volume->space.read_only) {
      add(checks::kPlaceReadOnly, place,
          "torch can't write here: what isn't in the cache yet ends in an OSError",
          remount(*place.volume, "rw"));
    } else if (place.may_create == false && !place.walk.blocked_by && !place.walk.error) {
      const std::string where = place.walk.exists ? "in it" : "in " + place.walk.existing;
      const Severity severity = place.holds_code ? Severity::kError : Severity::kWarning;
      diagnosis_.add_as(checks::kPlaceNotWritable, severity, place.walk.real,
                        fmt::format("user {} may not create files {}: what isn't in the cache yet ends in a "
                                    "PermissionError",
                                    diagnosis_.report().uid, where));
    }
    if (place.locks == LockSupport::kFails) {
      diagnosis_.add(checks::kPlaceNoLocks, place.lock_file,
                     place.lock_failure +
                         ": compiling CPU kernels fails, or, where locks aren't implemented, "
                         "waits for files that a killed process left");
    } else if (place.locks == LockSupport::kNotTried && place.role == "cache") {
      diagnosis_.not_checked(checks::kPlaceNoLocks, place.walk.real,
                             "there is no lock file to try it on, and nothing is written");
    }
  }

  void diagnose_space(const Place& place, const Volume& volume) {
    const SpaceInfo& space = volume.space;
    if (space.read_only) return;
    if (space.total_bytes != 0 && space.free_bytes < kLittleSpace) {
      const Severity severity = space.free_bytes < kNoSpace ? Severity::kError : Severity::kWarning;
      if (said_.emplace(checks::kPlaceLowSpace.id, volume.mount_point).second) {
        diagnosis_.add_as(
            checks::kPlaceLowSpace, severity, place.walk.real,
            fmt::format("{} of {} are free for this user; one precompiled header takes up to 350 MB",
                        format_size(space.free_bytes), format_size(space.total_bytes)),
            place.walk.exists ? "cachetool stats " + shell_word(place.walk.real) : std::string());
      }
    }
    if (space.total_inodes != 0 && space.free_inodes < kFewInodes) {
      const Severity severity = space.free_inodes < kNoInodes ? Severity::kError : Severity::kWarning;
      if (said_.emplace(checks::kPlaceLowInodes.id, volume.mount_point).second) {
        diagnosis_.add_as(
            checks::kPlaceLowInodes, severity, place.walk.real,
            fmt::format("{} more files can be made; a large model makes some thousand", space.free_inodes),
            "df -i " + shell_word(place.walk.existing));
      }
    }
  }

  void diagnose_kind(const Place& place, const Volume& volume) {
    switch (volume.kind) {
      case VolumeKind::kNetwork:
        add(checks::kPlaceNetwork, place,
            fmt::format(
                "{} is a network's file system: files that are replaced while another machine has them "
                "open fail there, locks depend on the mount, and each lookup asks the server",
                volume.type));
        break;
      case VolumeKind::kContainerLayer:
        add(checks::kPlaceContainerLayer, place,
            fmt::format(
                "{} keeps changes in the container's own layer: each new container starts without them",
                volume.type));
        break;
      case VolumeKind::kMemory:
        add(checks::kPlaceMemory, place,
            fmt::format("{} takes RAM for what it holds and is empty after a reboot", volume.type));
        break;
      case VolumeKind::kUserSpace:
        add(checks::kPlaceUserSpace, place,
            fmt::format("{}: each access asks another process or machine, and locks depend on it",
                        volume.type));
        break;
      case VolumeKind::kKernel:  // told of in diagnose_writing()
      case VolumeKind::kUnknown:
      case VolumeKind::kLocal:
        break;
    }
  }

  Diagnosis& diagnosis_;
  std::set<std::pair<std::string_view, std::string>> said_;
};

}  // namespace

void diagnose_volumes(Diagnosis& diagnosis) {
  VolumeDiagnosis volumes(diagnosis);
  for (const Place& place : diagnosis.report().places) volumes.look_at(place);
}

}  // namespace cachetool::verify
