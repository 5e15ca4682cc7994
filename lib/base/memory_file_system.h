#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace cachetool {

struct MemoryTree;

/// A tree in memory that behaves as the POSIX one, for tests: errors, owners, devices and the clock are what
/// the test says. The clock stands still unless moved. Paths of the functions that build the tree start at
/// its root ("/a/b", the first slash may be left out); missing parents are made, and what is there already is
/// replaced. Naming something that isn't there where it must be is an assertion. Thread safe.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  void add_dir(std::string_view path);
  void add_file(std::string_view path, std::string_view bytes);
  void add_symlink(std::string_view path, std::string_view target);
  /// A FIFO, socket or device.
  void add_special(std::string_view path, FileType type);
  /// A second name for the file at `existing`.
  void add_hard_link(std::string_view path, std::string_view existing);
  /// Removes a file or a whole tree, as another process would; open handles stay usable.
  void remove(std::string_view path);

  /// Lets a test set times, owner, mode or links. Type, inode and size stay what they are.
  void change_stat(std::string_view path, const std::function<void(FileStat&)>& change);
  /// Opening or listing what is at `path`, and changing anything in it if it is a directory, fails with this
  /// code; nullopt makes it work again.
  void set_error(std::string_view path, std::optional<ErrorCode> code);
  /// Puts the tree at `path` on another device, as a mount would.
  void set_device(std::string_view path, std::uint64_t device);
  void set_now(std::int64_t ns_since_epoch);
  void set_free_space(SpaceInfo space);
  /// The same for one device (see set_device); others keep theirs.
  void set_free_space(std::uint64_t device, SpaceInfo space);

  /// The bytes of the regular file at `path`; nullopt when there is none. Links are not followed.
  std::optional<std::string> contents(std::string_view path) const;
  bool exists(std::string_view path) const;

  Expected<DirHandle> open_root(std::string_view path) override;
  Expected<std::vector<DirEntry>> list(const Directory& dir) override;
  Expected<DirHandle> open_dir(const Directory& dir, const Name& name) override;
  Expected<FileHandle> open_file(const Directory& dir, const Name& name) override;
  Expected<FileStat> stat(const Directory& dir, const Name& name) override;
  Expected<FileStat> stat(const File& file) override;
  Expected<FileStat> stat(const Directory& dir) override;
  Expected<std::string> read_link(const Directory& dir, const Name& name) override;
  Expected<std::size_t> read_at(const File& file, std::uint64_t offset, std::span<char> out) override;
  Expected<TempFile> create_temp(const Directory& dir) override;
  Expected<DirHandle> make_dir(const Directory& dir, const Name& name, std::uint32_t mode) override;
  Status write(File& file, std::string_view bytes) override;
  Status set_mode(File& file, std::uint32_t mode) override;
  Status set_times(File& file, std::int64_t atime_ns, std::int64_t mtime_ns) override;
  Status rename(const Directory& from_dir, const Name& from, const Directory& to_dir, const Name& to,
                Replace replace) override;
  Status unlink(const Directory& dir, const Name& name) override;
  Status remove_dir(const Directory& dir, const Name& name) override;
  Status sync(File& file) override;
  Status sync(const Directory& dir) override;
  Expected<std::unique_ptr<Lock>> try_lock(const Directory& dir, const Name& name, LockMode mode) override;
  std::int64_t now() override;
  Expected<SpaceInfo> free_space(const Directory& dir) override;

 private:
  std::shared_ptr<MemoryTree> state_;  // shared with held locks
};

}  // namespace cachetool
