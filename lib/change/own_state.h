#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/file_system.h"

namespace cachetool::change {

/// `.cachetool/` of a root, open and locked: nobody else changes the cache with cachetool while this lives.
struct OwnState {
  DirHandle dir;
  DirHandle journals;    ///< one file per run that isn't finished
  DirHandle trash;       ///< one directory per such run: what is on its way
  DirHandle quarantine;  ///< one directory per run that put something there
  std::unique_ptr<Lock> lock;
  std::optional<Error> unlocked;  ///< why there is no lock where the file system knows none
};

/// Opens what is there; nullopt when there is no `.cachetool`. kPermission when it belongs to neither `uid`
/// nor root or others may write in it, kNotRegular when it is no directory (a link isn't followed), kLocked
/// when another process holds the lock. A file system without locks gives the state all the same.
Expected<std::optional<OwnState>> open_own_state(FileSystem& fs, const Directory& root, std::uint32_t uid);

/// The same; made (0700) when it is missing.
Expected<OwnState> make_own_state(FileSystem& fs, const Directory& root, std::uint32_t uid);

}  // namespace cachetool::change
