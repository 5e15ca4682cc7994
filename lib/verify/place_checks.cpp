#include "verify/place_checks.h"

#include <array>

namespace cachetool::verify {
namespace {

using torch::ReleaseFamily;

// cache_dir() makes its path absolute, and default_cache_dir() does without a user name, since 2.13.
constexpr std::array kHarmlessSince213 = {
    FamilySeverity{ReleaseFamily::k2_13, ReleaseFamily::k2_15, Severity::kInfo}};

}  // namespace

namespace checks {

constexpr Check kPlaceEmptyVariable{"place.empty-variable", "a variable that names a cache is set, but empty",
                                    Severity::kError, "Unset the variable, or give it an absolute path.",
                                    kHarmlessSince213};
constexpr Check kPlaceRelative{"place.relative", "a variable that names a cache holds a relative path",
                               Severity::kWarning, "Give the variable an absolute path.", kHarmlessSince213};
constexpr Check kPlaceNoUserName{"place.no-user-name", "nothing names the user", Severity::kError,
                                 "Set USER, or give the user a line in /etc/passwd.", kHarmlessSince213};
constexpr Check kPlaceNoHome{"place.no-home", "the user has no usable home", Severity::kWarning,
                             "Set HOME to a directory of this user, or TRITON_HOME and VLLM_CACHE_ROOT."};
constexpr Check kPlaceTemporaryIgnored{
    "place.temporary-ignored", "the temporary directory that is set can't be used, another one is",
    Severity::kWarning, "Make the directory, or set TMPDIR to one that this user may write."};
constexpr Check kPlaceNotADirectory{"place.not-a-directory", "something else than a directory is in the way",
                                    Severity::kError, "Move it away, or choose another directory."};
constexpr Check kPlaceUnreachable{"place.unreachable", "the directory can't be reached by this user",
                                  Severity::kError,
                                  "Let this user pass the directories above, or choose another directory."};

constexpr Check kPlaceReadOnly{"place.read-only", "the file system is mounted read-only", Severity::kError,
                               "Choose a directory on a file system that can be written."};
constexpr Check kPlaceNotWritable{"place.not-writable", "this user may not create files here",
                                  Severity::kError,
                                  "Give the directory to this user, or choose another one."};
constexpr Check kPlaceNoExec{
    "place.no-exec", "the file system is mounted noexec", Severity::kError,
    "Choose a directory on a file system without noexec, or mount it anew without it."};
constexpr Check kPlaceNoLocks{"place.no-locks", "file locks don't work here", Severity::kError,
                              "Choose a local file system, or mount this one with locks (Lustre: flock)."};
constexpr Check kPlaceLowSpace{"place.low-space", "little space is left", Severity::kWarning,
                               "Make room, or choose a directory on a larger file system."};
constexpr Check kPlaceLowInodes{"place.low-inodes", "few more files can be made", Severity::kWarning,
                                "Remove files, or choose a directory on a file system with more inodes."};
constexpr Check kPlaceNetwork{"place.network", "the file system is a network's", Severity::kWarning,
                              "Give each machine a local directory and copy a finished cache there."};
constexpr Check kPlaceContainerLayer{"place.container-layer", "the cache lies in a container's own layer",
                                     Severity::kWarning,
                                     "Mount a volume there, or fill the cache when the image is built."};
constexpr Check kPlaceMemory{"place.memory", "the cache lies in memory", Severity::kInfo,
                             "Choose a directory on a disk if the cache shall outlive a reboot."};
constexpr Check kPlaceUserSpace{"place.user-space", "another process answers for this file system",
                                Severity::kInfo, "Prefer a local file system where starts are slow."};
constexpr Check kPlaceCaseInsensitive{"place.case-insensitive", "names here don't differ by case alone",
                                      Severity::kInfo, "Choose a file system that tells cases apart."};
constexpr Check kPlaceNoAtime{"place.no-atime", "times of last use aren't kept", Severity::kInfo,
                              "Mount it with relatime if entries shall be removed by their last use."};

constexpr Check kPlaceForeignOwner{"place.foreign-owner",
                                   "somebody else owns the cache or a directory above it", Severity::kError,
                                   "Choose a directory that only this user and root can change."};
constexpr Check kPlaceForeignLink{"place.foreign-link", "somebody else's link leads to the cache",
                                  Severity::kError, "Name the directory itself, or remove the link."};
constexpr Check kPlaceOthersMayWrite{"place.others-may-write", "others may write to the cache or replace it",
                                     Severity::kError, "Take the right to write from group and others."};
constexpr Check kPlaceUmask{"place.umask", "files that torch creates will be writable by others",
                            Severity::kWarning, "Set umask 022 or 077 for the process."};

constexpr Check kPlaceCachesDisabled{"place.caches-disabled", "a variable turns every cache off",
                                     Severity::kWarning, "Unset the variable."};
constexpr Check kPlaceCacheOff{"place.cache-off", "a variable turns one of the caches off",
                               Severity::kWarning, "Unset the variable."};
constexpr Check kPlaceCompileOff{"place.compile-off", "a variable turns torch.compile off",
                                 Severity::kWarning, "Unset the variable."};
constexpr Check kPlaceMisspelt{"place.misspelt", "a variable looks like a misspelt one", Severity::kInfo,
                               "Correct the name."};

constexpr Check kPlaceNoCompiler{"place.no-compiler", "no compiler was found", Severity::kInfo,
                                 "Install g++, or set CXX to the compiler."};

}  // namespace checks

CheckGroup place_checks() {
  using namespace checks;
  static constexpr const Check* kAll[] = {
      &kPlaceEmptyVariable,    &kPlaceRelative,        &kPlaceNoUserName,     &kPlaceNoHome,
      &kPlaceTemporaryIgnored, &kPlaceNotADirectory,   &kPlaceUnreachable,    &kPlaceReadOnly,
      &kPlaceNotWritable,      &kPlaceNoExec,          &kPlaceNoLocks,        &kPlaceLowSpace,
      &kPlaceLowInodes,        &kPlaceNetwork,         &kPlaceContainerLayer, &kPlaceMemory,
      &kPlaceUserSpace,        &kPlaceCaseInsensitive, &kPlaceNoAtime,        &kPlaceForeignOwner,
      &kPlaceForeignLink,      &kPlaceOthersMayWrite,  &kPlaceUmask,          &kPlaceCachesDisabled,
      &kPlaceCacheOff,         &kPlaceCompileOff,      &kPlaceMisspelt,       &kPlaceNoCompiler,
  };
  return {"The place", kAll};
}

}  // namespace cachetool::verify
