#include "change/move.h"

namespace cachetool::change {

Status move_to_free_name(FileSystem& fs, const store::OpenPlace& from, const store::OpenPlace& to) {
  Status moved = fs.rename(*from.directory, from.name, *to.directory, to.name, Replace::kNo);
  if (moved || moved.error().code != ErrorCode::kExists) return moved;
  const auto ours = fs.stat(*from.directory, from.name);
  const auto theirs = fs.stat(*to.directory, to.name);
  if (!ours || !theirs || ours->type == FileType::kDirectory || ours->device != theirs->device ||
      ours->inode != theirs->inode) {
    return moved;
  }
  return fs.unlink(*from.directory, from.name);
}

}  // namespace cachetool::change
