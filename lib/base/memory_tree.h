#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"

namespace cachetool {

/// A file of a MemoryFileSystem. Directories own their children; hard links share a node.
struct MemoryNode {
  FileStat stat;
  std::string bytes;  ///< of a regular file, or the target of a link
  std::map<std::string, std::shared_ptr<MemoryNode>, std::less<>> children;
  std::optional<ErrorCode> error;
  std::size_t shared_locks = 0;
  bool exclusive_lock = false;
};
using MemoryNodePtr = std::shared_ptr<MemoryNode>;

/// The node's status with the sizes that follow from its bytes.
FileStat status_of(const MemoryNode& node);
/// Puts `top` and everything below it on `device`.
void move_to_device(MemoryNode& top, std::uint64_t device);
/// The error of a call that fails with `code`, in the words of the system where there are any.
Error refusal_error(ErrorCode code, std::string_view action, std::string path = {});

/// The tree of a MemoryFileSystem and the rules that POSIX has for it. Callers hold `mutex`.
struct MemoryTree {
  mutable std::mutex mutex;
  MemoryNodePtr root;
  std::int64_t now = 1'700'000'000'000'000'000;
  std::uint64_t next_inode = 1;
  std::uint64_t next_temp = 1;
  SpaceInfo space{std::uint64_t{1} << 40, std::uint64_t{1} << 41, 1'000'000, 2'000'000};
  std::map<std::uint64_t, SpaceInfo> device_space;  ///< of single devices

  MemoryNodePtr make(FileType type, std::uint32_t mode, std::uint64_t device);
  void touch(MemoryNode& node) const;
  void attach(MemoryNode& dir, const std::string& name, MemoryNodePtr node);
  void detach(MemoryNode& dir, const std::string& name);

  /// The node that `path` names, or null; links are not followed.
  MemoryNodePtr find(std::string_view path) const;
  MemoryNodePtr must_find(std::string_view path) const;

  /// The directory that `path` lies in, made when missing, and the last component.
  std::pair<MemoryNodePtr, std::string> place(std::string_view path);
  MemoryNodePtr add(std::string_view path, FileType type, std::uint32_t mode);

  /// As the kernel resolves a path: every link on the way is followed, up to 40 of them.
  Expected<MemoryNodePtr> resolve(std::string_view path) const;

  /// A child that may be opened: of the type expected, on the same device, without a set error.
  Expected<MemoryNodePtr> open(const MemoryNode& parent, const Name& name, FileType expected) const;

  /// The child to be changed or removed.
  Expected<MemoryNodePtr> child_of(const MemoryNode& dir, const Name& name, std::string_view action) const;

  /// 0, or the errno of a rename of `source` onto what `to` has under `name`.
  int rename_refusal(const MemoryNode& source, const MemoryNode& to, const Name& name, Replace replace) const;
};

}  // namespace cachetool
