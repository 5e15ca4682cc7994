#pragma once

#include "base/file_system.h"

namespace cachetool::change {

enum class Files : bool {
  kRemove,
  kRefuse,  ///< only directories go: kExists when there is anything else
};

/// Removes `name` in `dir` with everything in it, contents before their directory, no link followed. What is
/// gone already is fine. Stops at the first failure; what went before stays gone. kLimitDepth beyond 64
/// levels.
Status remove_tree(FileSystem& fs, const Directory& dir, const Name& name, Files files = Files::kRemove);

}  // namespace cachetool::change
