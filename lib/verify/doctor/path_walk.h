#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace cachetool::verify {

/// A directory or link that the kernel passes when it looks up a path.
struct PathStep {
  std::string path;    ///< absolute, without links in it
  FileStat stat;       ///< of the directory, or of the link itself
  std::string target;  ///< of a link, as it is written there; empty for a directory
  bool is_link() const { return stat.type == FileType::kSymlink; }
};

/// A path looked up step by step.
struct PathWalk {
  std::vector<PathStep> steps;  ///< from "/" on; a link stands before what it leads to
  std::string real;             ///< the path without links; what isn't there yet is kept as it was named
  std::string existing;         ///< the directory at its end, else the nearest one above
  bool exists = false;          ///< as a directory
  std::optional<FileType> blocked_by;  ///< something else than a directory is at its end or in the way
  bool is_file = false;                ///< it is at its end, and a regular file
  std::optional<Error> error;          ///< the lookup ended early: no permission, links in a circle

  /// The status of `existing`; null when not even "/" could be read.
  const FileStat* existing_stat() const;
};

/// Looks up an absolute path. Follows links, at most 40 of them as Linux does.
PathWalk walk_path(FileSystem& fs, const std::string& path);

}  // namespace cachetool::verify
