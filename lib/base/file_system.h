#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool {

/// One component of a path: not empty, no '/', no NUL, not "." or "..", at most 255 bytes. Any other bytes
/// are allowed.
class Name {
 public:
  static Expected<Name> parse(std::string_view text);
  const std::string& str() const { return text_; }
  friend bool operator==(const Name&, const Name&) = default;
  friend auto operator<=>(const Name&, const Name&) = default;

 private:
  explicit Name(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

enum class FileType : std::uint8_t { kRegular, kDirectory, kSymlink, kFifo, kSocket, kDevice, kUnknown };

/// "regular file", "symbolic link", "FIFO", …
std::string_view file_type_name(FileType type);

struct DirEntry {
  Name name;
  FileType type = FileType::kUnknown;  ///< as the directory says; kUnknown where the file system doesn't tell
  std::uint64_t inode = 0;
};

struct FileStat {
  FileType type = FileType::kUnknown;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;             ///< apparent size, bytes
  std::uint64_t allocated_bytes = 0;  ///< blocks held, bytes
  std::uint64_t links = 1;
  std::uint32_t mode = 0;  ///< permission bits only (07777)
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t atime_ns = 0;  ///< nanoseconds since the epoch
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
};

/// The file system that a directory lies on.
struct SpaceInfo {
  std::uint64_t free_bytes = 0;  ///< available to this user
  std::uint64_t total_bytes = 0;
  std::uint64_t free_inodes = 0;
  std::uint64_t total_inodes = 0;  ///< 0 where the file system has no fixed number
  std::uint64_t type = 0;          ///< f_type of statfs(2), such as 0xef53; 0 where it isn't known
  bool read_only = false;          ///< mounted so, here or as a whole
  bool no_exec = false;            ///< shared objects can't be loaded from it
};

/// An open directory. Closed by destruction; safe to use from several threads.
class Directory {
 public:
  virtual ~Directory() = default;
};

/// An open regular file. Closed by destruction; reading from several threads is safe.
class File {
 public:
  virtual ~File() = default;
};

/// A held lock. Released by destruction; the lock file stays.
class Lock {
 public:
  virtual ~Lock() = default;
};

using DirHandle = std::shared_ptr<const Directory>;
using FileHandle = std::unique_ptr<File>;

struct TempFile {
  Name name;
  FileHandle file;
};

enum class Replace : bool { kNo, kYes };
enum class LockMode : bool { kShared, kExclusive };

/// The only way to the disk for everything under lib/. Works on directory handles and single names, never on
/// paths: each step is one openat(dir, name, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) and fstat, so nothing below
/// a root follows a link or blocks on a FIFO, and mount points below the root are not crossed. Errors carry
/// the name as their path; callers put the rest in front. Implementations: Posix, Memory, Fault (wraps
/// another one).
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// Opens the directory that `path` names (relative or absolute, links in it are followed once). kNotFound,
  /// kPermission, kNotRegular when it is no directory.
  virtual Expected<DirHandle> open_root(std::string_view path) = 0;

  /// All names in `dir` except "." and "..", sorted bytewise. Names that vanish meanwhile may or may not be
  /// there.
  virtual Expected<std::vector<DirEntry>> list(const Directory& dir) = 0;

  virtual Expected<DirHandle> open_dir(const Directory& dir, const Name& name) = 0;
  virtual Expected<FileHandle> open_file(const Directory& dir, const Name& name) = 0;
  virtual Expected<FileStat> stat(const Directory& dir, const Name& name) = 0;
  virtual Expected<FileStat> stat(const File& file) = 0;
  virtual Expected<FileStat> stat(const Directory& dir) = 0;
  /// Target of a symbolic link, for reports; never followed.
  virtual Expected<std::string> read_link(const Directory& dir, const Name& name) = 0;

  /// Reads up to out.size() bytes at `offset`; the number read, 0 at the end of the file.
  virtual Expected<std::size_t> read_at(const File& file, std::uint64_t offset, std::span<char> out) = 0;

  /// Creates a new file of a name that no other process uses, ".cachetool.<random>.tmp", mode 0600.
  virtual Expected<TempFile> create_temp(const Directory& dir) = 0;
  virtual Expected<DirHandle> make_dir(const Directory& dir, const Name& name, std::uint32_t mode) = 0;
  /// Appends all of `bytes`.
  virtual Status write(File& file, std::string_view bytes) = 0;
  virtual Status set_mode(File& file, std::uint32_t mode) = 0;
  virtual Status set_times(File& file, std::int64_t atime_ns, std::int64_t mtime_ns) = 0;
  /// kExists with Replace::kNo when the target is there.
  virtual Status rename(const Directory& from_dir, const Name& from, const Directory& to_dir, const Name& to,
                        Replace replace) = 0;
  virtual Status unlink(const Directory& dir, const Name& name) = 0;
  virtual Status remove_dir(const Directory& dir, const Name& name) = 0;
  virtual Status sync(File& file) = 0;
  virtual Status sync(const Directory& dir) = 0;
  /// flock(2), never waits: kLocked when somebody holds it, kUnsupported where the system knows no locks.
  /// kExclusive makes a missing file (empty, 0644); kShared is for looking and writes nothing.
  virtual Expected<std::unique_ptr<Lock>> try_lock(const Directory& dir, const Name& name, LockMode mode) = 0;

  /// Nanoseconds since the epoch.
  virtual std::int64_t now() = 0;
  virtual Expected<SpaceInfo> free_space(const Directory& dir) = 0;
};

/// Reads a whole file into `buffer` (which keeps its capacity up to 4 MiB for reuse). kLimitSize above
/// `max_bytes`. A file that grows meanwhile is read to the size it had at its stat or to its end, whichever
/// is less; one that shrinks is read to its new end.
Expected<FileStat> read_file(FileSystem& fs, const Directory& dir, const Name& name, std::uint64_t max_bytes,
                             std::string& buffer);

}  // namespace cachetool
