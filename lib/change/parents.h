#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "store/paths.h"

namespace cachetool::change {

/// The components of a path that a change may name: relative, without empty components, "." or "..", not in
/// `.cachetool/`, at most 4,096 bytes. Else kUsage with the path.
Expected<std::vector<Name>> parse_path(std::string_view path);

/// Opens the directories that hold paths below one directory, and keeps those of the last path open: what is
/// changed together mostly lies together. No link is followed. Errors carry the whole path.
class Parents {
 public:
  Parents(FileSystem& fs, DirHandle top) : fs_(fs), top_(std::move(top)) {}

  /// The directory that holds `path`, and the name there.
  Expected<store::OpenPlace> find(std::string_view path) { return walk(path, std::nullopt); }
  /// The same; directories that are missing are made with `mode`.
  Expected<store::OpenPlace> make(std::string_view path, std::uint32_t mode) { return walk(path, mode); }
  /// Closes what is kept open: the next path is looked up as it is then.
  void forget() { open_.clear(); }

 private:
  Expected<store::OpenPlace> walk(std::string_view path, std::optional<std::uint32_t> mode);

  FileSystem& fs_;
  DirHandle top_;
  std::vector<std::pair<Name, DirHandle>> open_;
};

/// Opens `name` in `dir`, made with `mode` when it is missing; then `dir` is synced.
Expected<DirHandle> open_or_make(FileSystem& fs, const Directory& dir, const Name& name, std::uint32_t mode);

/// `error` with `path` in the place of its own.
Error at_path(Error error, std::string_view path);

}  // namespace cachetool::change
