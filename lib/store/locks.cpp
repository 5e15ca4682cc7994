#include "store/locks.h"

namespace cachetool::store {

LockState lock_state(FileSystem& fs, const Directory& directory, const Name& name) {
  const auto stat = fs.stat(directory, name);
  if (!stat || stat->type != FileType::kRegular) return LockState::kUnknown;
  const auto lock = fs.try_lock(directory, name, LockMode::kShared);
  if (lock) return LockState::kFree;
  return lock.error().code == ErrorCode::kLocked ? LockState::kHeld : LockState::kUnknown;
}

}  // namespace cachetool::store
