#include "base/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/posix_error.h"

namespace cachetool {
namespace {

/// Owns a descriptor. Closing is not retried: on Linux the descriptor is gone whatever close says.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct PosixDirectory final : Directory {
  PosixDirectory(Descriptor descriptor, dev_t device_number)
      : fd(std::move(descriptor)), device(device_number) {}
  Descriptor fd;
  dev_t device;
  /// The first listing reads through `fd` itself; its position is spent then, so later ones open the
  /// directory anew.
  mutable std::atomic<bool> position_spent{false};
};

struct PosixFile final : File {
  PosixFile(Descriptor descriptor, std::string file_name)
      : fd(std::move(descriptor)), name(std::move(file_name)) {}
  Descriptor fd;
  std::string name;
};

struct PosixLock final : Lock {
  explicit PosixLock(Descriptor descriptor) : fd(std::move(descriptor)) {}
  Descriptor fd;  // closing it releases the lock
};

const PosixDirectory& posix(const Directory& dir) {
  return static_cast<const PosixDirectory&>(dir);
}
const PosixFile& posix(const File& file) {
  return static_cast<const PosixFile&>(file);
}
int fd_of(const Directory& dir) {
  return posix(dir).fd.get();
}
int fd_of(const File& file) {
  return posix(file).fd.get();
}

tl::unexpected<Error> failed(int number, std::string_view action, std::string path = {}) {
  return tl::unexpected(system_error(number, action, std::move(path)));
}

/// Calls until it isn't interrupted by a signal.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

int open_at(int dir, const char* name, int flags, mode_t mode = 0) {
  return retry([&] { return ::openat(dir, name, flags | O_CLOEXEC, mode); });
}

/// Opens for reading without touching the access time where that is allowed (own files, or root).
int open_to_read(int dir, const char* name, int flags) {
  const int fd = open_at(dir, name, flags | O_RDONLY | O_NOATIME);
  return fd == -1 && errno == EPERM ? open_at(dir, name, flags | O_RDONLY) : fd;
}

FileType type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileType::kRegular;
    case S_IFDIR:
      return FileType::kDirectory;
    case S_IFLNK:
      return FileType::kSymlink;
    case S_IFIFO:
      return FileType::kFifo;
    case S_IFSOCK:
      return FileType::kSocket;
    case S_IFBLK:
    case S_IFCHR:
      return FileType::kDevice;
    default:
      return FileType::kUnknown;
  }
}

FileType type_of_entry(unsigned char type) {
  return type == DT_UNKNOWN ? FileType::kUnknown : type_of(static_cast<mode_t>(DTTOIF(type)));
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

timespec to_timespec(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = ns / kSecond;
  std::int64_t rest = ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {seconds, rest};
}

FileStat to_stat(const struct stat& from) {
  FileStat to;
  to.type = type_of(from.st_mode);
  to.device = from.st_dev;
  to.inode = from.st_ino;
  to.size = static_cast<std::uint64_t>(from.st_size);
  to.allocated_bytes = static_cast<std::uint64_t>(from.st_blocks) * 512;
  to.links = from.st_nlink;
  to.mode = from.st_mode & 07777U;
  to.uid = from.st_uid;
  to.gid = from.st_gid;
  to.atime_ns = nanoseconds(from.st_atim);
  to.mtime_ns = nanoseconds(from.st_mtim);
  to.ctime_ns = nanoseconds(from.st_ctim);
  return to;
}

tl::unexpected<Error> wrong_type(FileType found, FileType expected, const Name& name) {
  return fail(ErrorCode::kNotRegular,
              fmt::format("is a {}, not a {}", file_type_name(found), file_type_name(expected)), name.str());
}

/// Why openat refused `name`: links, sockets and files in a directory's place are told apart by what is
/// there.
tl::unexpected<Error> open_failed(int number, int dir, const Name& name, FileType expected) {
  if (code_of_errno(number) == ErrorCode::kNotRegular) {
    struct stat found;
    if (::fstatat(dir, name.str().c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        type_of(found.st_mode) != expected) {
      return wrong_type(type_of(found.st_mode), expected, name);
    }
  }
  return failed(number, "open", name.str());
}

tl::unexpected<Error> lock_failed(int number, const Name& name) {
  auto failure = failed(number, "lock", name.str());
  if (number == ENOSYS || number == EOPNOTSUPP || number == ENOLCK) {
    failure.value().code = ErrorCode::kUnsupported;
  }
  return failure;
}

/// Takes over `fd` after checking that it is of the type expected and on the device of its directory.
Expected<Descriptor> checked(int fd, const PosixDirectory& dir, const Name& name, FileType expected) {
  if (fd == -1) return open_failed(errno, dir.fd.get(), name, expected);
  Descriptor descriptor(fd);
  struct stat found;
  if (::fstat(fd, &found) != 0) return failed(errno, "read the status", name.str());
  if (type_of(found.st_mode) != expected) return wrong_type(type_of(found.st_mode), expected, name);
  if (found.st_dev != dir.device) {
    return fail(ErrorCode::kMountPoint, "is on another file system than its directory", name.str());
  }
  return descriptor;
}

std::optional<std::string> random_name() {
  std::array<std::uint8_t, 15> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return ".cachetool." + to_base32(bytes) + ".tmp";
}

bool is_directory(int dir, const char* name) {
  struct stat found;
  return ::fstatat(dir, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

/// A rename that fails where the target exists, for file systems without RENAME_NOREPLACE (NFS). A directory
/// has no second name; its rename can at worst replace an empty directory that comes up meanwhile.
int rename_without_flag(int from_dir, const char* from, int to_dir, const char* to) {
  if (is_directory(from_dir, from)) {
    struct stat found;
    if (::fstatat(to_dir, to, &found, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = EEXIST;
      return -1;
    }
    return ::renameat(from_dir, from, to_dir, to);
  }
  if (::linkat(from_dir, from, to_dir, to, 0) != 0) return -1;
  return ::unlinkat(from_dir, from, 0);
}

class PosixFileSystem final : public FileSystem {
 public:
  Expected<DirHandle> open_root(std::string_view path) override {
    const std::string text(path);
    if (text.find('\0') != std::string::npos)
      return fail(ErrorCode::kUsage, "the path contains a NUL byte", text);
    const int fd = open_to_read(AT_FDCWD, text.c_str(), O_DIRECTORY | O_NONBLOCK);
    if (fd == -1) {
      if (errno == ENOTDIR) return fail(ErrorCode::kNotRegular, "is not a directory", text);
      return failed(errno, "open", text);
    }
    return directory(Descriptor(fd), text);
  }

  Expected<std::vector<DirEntry>> list(const Directory& dir) override {
    if (!posix(dir).position_spent.exchange(true)) return read_entries(fd_of(dir));
    const int fd = open_to_read(fd_of(dir), ".", O_DIRECTORY);
    if (fd == -1) return failed(errno, "open the directory again");
    const Descriptor descriptor(fd);
    return read_entries(fd);
  }

  Expected<DirHandle> open_dir(const Directory& dir, const Name& name) override {
    const int fd = open_to_read(fd_of(dir), name.str().c_str(), O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    auto descriptor = checked(fd, posix(dir), name, FileType::kDirectory);
    if (!descriptor) return tl::unexpected(std::move(descriptor.error()));
    return std::make_shared<PosixDirectory>(std::move(*descriptor), posix(dir).device);
  }

  Expected<FileHandle> open_file(const Directory& dir, const Name& name) override {
    const int fd = open_to_read(fd_of(dir), name.str().c_str(), O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    auto descriptor = checked(fd, posix(dir), name, FileType::kRegular);
    if (!descriptor) return tl::unexpected(std::move(descriptor.error()));
    return std::make_unique<PosixFile>(std::move(*descriptor), name.str());
  }

  Expected<FileStat> stat(const Directory& dir, const Name& name) override {
    struct stat found;
    if (::fstatat(fd_of(dir), name.str().c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      return failed(errno, "read the status", name.str());
    }
    return to_stat(found);
  }
  Expected<FileStat> stat(const File& file) override { return stat_open(fd_of(file), posix(file).name); }
  Expected<FileStat> stat(const Directory& dir) override { return stat_open(fd_of(dir), {}); }

  Expected<std::string> read_link(const Directory& dir, const Name& name) override {
    std::array<char, 4096> target;  // PATH_MAX: Linux stores no longer ones
    const ssize_t length = ::readlinkat(fd_of(dir), name.str().c_str(), target.data(), target.size());
    if (length == -1) return failed(errno, "read the link", name.str());
    return std::string(target.data(), static_cast<std::size_t>(length));
  }

  Expected<std::size_t> read_at(const File& file, std::uint64_t offset, std::span<char> out) override {
    const ssize_t count =
        retry([&] { return ::pread(fd_of(file), out.data(), out.size(), static_cast<off_t>(offset)); });
    if (count == -1) return failed(errno, "read", posix(file).name);
    return static_cast<std::size_t>(count);
  }

  Expected<TempFile> create_temp(const Directory& dir) override {
    constexpr int kAttempts = 8;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::optional<std::string> text = random_name();
      if (!text) return failed(errno, "get random bytes");
      const int fd = open_at(fd_of(dir), text->c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
      if (fd == -1 && errno == EEXIST) continue;
      if (fd == -1) return failed(errno, "create a temporary file", *text);
      return TempFile{*Name::parse(*text), std::make_unique<PosixFile>(Descriptor(fd), *text)};
    }
    return failed(EEXIST, "create a temporary file");
  }

  Expected<DirHandle> make_dir(const Directory& dir, const Name& name, std::uint32_t mode) override {
    if (::mkdirat(fd_of(dir), name.str().c_str(), mode) != 0)
      return failed(errno, "make a directory", name.str());
    return open_dir(dir, name);
  }

  Status write(File& file, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = retry([&] { return ::write(fd_of(file), bytes.data(), bytes.size()); });
      if (count == -1) return failed(errno, "write", posix(file).name);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }

  Status set_mode(File& file, std::uint32_t mode) override {
    return done(::fchmod(fd_of(file), mode), "set the mode", posix(file).name);
  }
  Status set_times(File& file, std::int64_t atime_ns, std::int64_t mtime_ns) override {
    const std::array<timespec, 2> times = {to_timespec(atime_ns), to_timespec(mtime_ns)};
    return done(::futimens(fd_of(file), times.data()), "set the times", posix(file).name);
  }

  Status rename(const Directory& from_dir, const Name& from, const Directory& to_dir, const Name& to,
                Replace replace) override {
    const char* source = from.str().c_str();
    const char* target = to.str().c_str();
    int result = 0;
    if (replace == Replace::kYes) {
      result = ::renameat(fd_of(from_dir), source, fd_of(to_dir), target);
    } else {
      result = ::renameat2(fd_of(from_dir), source, fd_of(to_dir), target, RENAME_NOREPLACE);
      if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
        result = rename_without_flag(fd_of(from_dir), source, fd_of(to_dir), target);
      }
    }
    return done(result, fmt::format("rename to {}", to.str()), from.str());
  }

  Status unlink(const Directory& dir, const Name& name) override {
    return done(::unlinkat(fd_of(dir), name.str().c_str(), 0), "remove", name.str());
  }
  Status remove_dir(const Directory& dir, const Name& name) override {
    return done(::unlinkat(fd_of(dir), name.str().c_str(), AT_REMOVEDIR), "remove the directory", name.str());
  }
  Status sync(File& file) override {
    return done(retry([&] { return ::fsync(fd_of(file)); }), "sync", posix(file).name);
  }
  Status sync(const Directory& dir) override {
    return done(retry([&] { return ::fsync(fd_of(dir)); }), "sync the directory", {});
  }

  Expected<std::unique_ptr<Lock>> try_lock(const Directory& dir, const Name& name, LockMode mode) override {
    constexpr int kAttempts = 4;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto descriptor = checked(open_lock(fd_of(dir), name, mode), posix(dir), name, FileType::kRegular);
      if (!descriptor) return tl::unexpected(std::move(descriptor.error()));
      const int operation = (mode == LockMode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
      if (retry([&] { return ::flock(descriptor->get(), operation); }) != 0) {
        return lock_failed(errno, name);
      }
      if (still_named(descriptor->get(), fd_of(dir), name)) {
        return std::make_unique<PosixLock>(std::move(*descriptor));
      }
    }
    return fail(ErrorCode::kLocked, "cannot lock: the lock file is replaced again and again", name.str());
  }

  std::int64_t now() override {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return nanoseconds(time);
  }

  Expected<SpaceInfo> free_space(const Directory& dir) override {
    struct statvfs info;
    struct statfs kind;
    if (retry([&] { return ::fstatvfs(fd_of(dir), &info); }) != 0 ||
        retry([&] { return ::fstatfs(fd_of(dir), &kind); }) != 0) {
      return failed(errno, "read the free space");
    }
    SpaceInfo space;
    space.free_bytes = std::uint64_t{info.f_bavail} * info.f_frsize;
    space.total_bytes = std::uint64_t{info.f_blocks} * info.f_frsize;
    space.free_inodes = info.f_favail;
    space.total_inodes = info.f_files;
    space.type = static_cast<std::uint32_t>(kind.f_type);
    space.read_only = (info.f_flag & ST_RDONLY) != 0;
    space.no_exec = (info.f_flag & ST_NOEXEC) != 0;
    return space;
  }

 private:
  static Status done(int result, std::string_view action, std::string path) {
    if (result != 0) return failed(errno, action, std::move(path));
    return {};
  }

  static Expected<FileStat> stat_open(int fd, const std::string& name) {
    struct stat found;
    if (::fstat(fd, &found) != 0) return failed(errno, "read the status", name);
    return to_stat(found);
  }

  static Expected<DirHandle> directory(Descriptor fd, const std::string& path) {
    struct stat found;
    if (::fstat(fd.get(), &found) != 0) return failed(errno, "read the status", path);
    return std::make_shared<PosixDirectory>(std::move(fd), found.st_dev);
  }

  /// Reads entries in blocks straight from the kernel: no stream to allocate per directory.
  static Expected<std::vector<DirEntry>> read_entries(int fd) {
    std::vector<DirEntry> entries;
    alignas(dirent64) std::array<char, std::size_t{32} << 10> block;
    for (;;) {
      const ssize_t length = retry([&] { return ::getdents64(fd, block.data(), block.size()); });
      if (length == -1) return failed(errno, "list");
      if (length == 0) break;
      for (std::size_t position = 0; position < static_cast<std::size_t>(length);) {
        const auto* entry = reinterpret_cast<const dirent64*>(block.data() + position);
        position += entry->d_reclen;
        auto name = Name::parse(static_cast<const char*>(entry->d_name));
        if (name) entries.push_back({std::move(*name), type_of_entry(entry->d_type), entry->d_ino});
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirEntry& a, const DirEntry& b) { return a.name.str() < b.name.str(); });
    return entries;
  }

  /// Creates the lock file when it is missing and wanted for itself alone; one that may only be read can be
  /// locked all the same.
  static int open_lock(int dir, const Name& name, LockMode mode) {
    const char* text = name.str().c_str();
    constexpr int kAsItIs = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    if (mode == LockMode::kShared) return open_at(dir, text, kAsItIs);
    const int fd = open_at(dir, text, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
    if (fd != -1 || (errno != EACCES && errno != EROFS)) return fd;
    const int refusal = errno;
    const int read_only = open_at(dir, text, kAsItIs);
    if (read_only == -1) errno = refusal;
    return read_only;
  }

  /// Whoever held the lock before may have removed the file; a lock on a nameless file excludes nobody.
  static bool still_named(int fd, int dir, const Name& name) {
    struct stat held;
    struct stat named;
    return ::fstat(fd, &held) == 0 && ::fstatat(dir, name.str().c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  }
};

}  // namespace

std::unique_ptr<FileSystem> make_posix_file_system() {
  return std::make_unique<PosixFileSystem>();
}

}  // namespace cachetool
