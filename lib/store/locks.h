#pragma once

#include <cstdint>

#include "base/file_system.h"

namespace cachetool::store {

enum class LockState : std::uint8_t {
  kFree,     ///< nobody held it when it was tried
  kHeld,     ///< another process holds it: torch is compiling what it stands for
  kUnknown,  ///< gone, no regular file, or not to be opened by this user
};

/// Whether somebody holds one of torch's lock files at this moment: flock(2), tried in shared mode and given
/// back at once. Never waits, and a file that isn't there is not created. torch/utils/_filelock.py: FileLock
/// (2.9).
LockState lock_state(FileSystem& fs, const Directory& directory, const Name& name);

}  // namespace cachetool::store
