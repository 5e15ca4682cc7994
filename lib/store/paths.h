#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"

namespace cachetool::store {

/// The components of a relative path; empty ones (leading, doubled or final slashes) are dropped.
std::vector<std::string_view> split_path(std::string_view path);

/// `directory`/`name`, or `name` when there is no directory.
std::string join_path(std::string_view directory, std::string_view name);

/// What precedes the last slash; empty without one.
std::string_view directory_of(std::string_view path);

/// What follows the last slash; all of `path` without one.
std::string_view name_of(std::string_view path);

/// True when `path` is `directory` or lies below it; an empty directory holds everything.
bool is_within(std::string_view directory, std::string_view path);

/// True for a directory, and for what the file system doesn't tell the type of before it is opened.
inline bool may_be_directory(const DirEntry& entry) {
  return entry.type == FileType::kDirectory || entry.type == FileType::kUnknown;
}

/// Opens the directory at `path` below `root`, one component at a time. The error's path is `path`.
Expected<DirHandle> open_below(FileSystem& fs, const DirHandle& root, std::string_view path);

/// A file's place: the open directory that holds it and its name there.
struct OpenPlace {
  DirHandle directory;
  Name name;
};
Expected<OpenPlace> open_parent(FileSystem& fs, const DirHandle& root, std::string_view path);

}  // namespace cachetool::store
