#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace cachetool::change {

/// What tells that a file is still the one that was seen. Of a directory only its type, device and inode: its
/// times and size change with what it holds, which is compared by itself.
struct Identity {
  FileType type = FileType::kUnknown;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;  ///< bytes
  std::int64_t mtime_ns = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity identity_of(const FileStat& stat);

/// How much a path holds: regular files, each inode once.
struct Amount {
  std::uint64_t bytes = 0;            ///< sum of st_size
  std::uint64_t allocated_bytes = 0;  ///< blocks held
  std::uint64_t files = 0;
  Amount& operator+=(const Amount& other);
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// Something in a directory, at any depth.
struct Member {
  std::string path;  ///< below the directory
  Identity identity;
  friend bool operator==(const Member&, const Member&) = default;
};

/// A path as it was at one moment.
struct Snapshot {
  Identity identity;
  std::vector<Member>
      members;  ///< of a directory: everything in it, in the order of a walk over sorted names
  Amount amount;
};

/// Looks at `name` in `dir` without following links. kLimitDepth beyond 64 levels, kVanished when something
/// in it goes away meanwhile. Errors carry `name`, and what is below it.
Expected<Snapshot> take_snapshot(FileSystem& fs, const Directory& dir, const Name& name);

/// What is different, as a clause ("its size is 12, not 10"); nullopt when nothing is.
std::optional<std::string> difference(const Snapshot& expected, const Snapshot& found);
/// The same for the path itself, without what it holds.
std::optional<std::string> difference(const Identity& expected, const Identity& found);

}  // namespace cachetool::change
