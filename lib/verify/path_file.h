#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace cachetool::verify {

/// A regular file of the machine (not of a cache), opened by its path.
struct PathFile {
  std::string path;  ///< where it really is: links were followed
  FileHandle file;
  std::uint64_t size = 0;
};

/// The directory part of an absolute path, without the last slash; "/" for a file in the root.
std::string_view directory_of_path(std::string_view path);

/// Opens the file that an absolute path names; links are followed, at most 16 for the file itself. Errors:
/// kNotFound, kPermission, kNotRegular and what else FileSystem says.
Expected<PathFile> open_path(FileSystem& fs, std::string_view path);

/// Reads `size` bytes at `offset`. Errors: kTruncated when the file ends before.
Expected<std::string> read_exactly(FileSystem& fs, const File& file, std::uint64_t offset,
                                   std::uint64_t size);

/// All of a file up to `max_bytes`, also of one whose size is given as 0 (/proc). kLimitSize beyond.
Expected<std::string> read_path(FileSystem& fs, std::string_view path, std::uint64_t max_bytes);

/// Names in the directory that `path` names, sorted; empty when it can't be listed.
std::vector<std::string> list_path(FileSystem& fs, std::string_view path);

}  // namespace cachetool::verify
