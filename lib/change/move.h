#pragma once

#include "base/file_system.h"
#include "store/paths.h"

namespace cachetool::change {

/// Renames to a name that is free, kExists when it isn't. Where the file system renames without replacing by
/// a link and an unlink, a kill between the two leaves both names: then `from` is removed, which ends it.
Status move_to_free_name(FileSystem& fs, const store::OpenPlace& from, const store::OpenPlace& to);

}  // namespace cachetool::change
