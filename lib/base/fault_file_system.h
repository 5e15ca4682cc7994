#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"

namespace cachetool {

/// Wraps another file system and lets things go wrong where a test says: at the N-th call, in what is read,
/// or by the clock. Calls are numbered from 1 over all functions but now(). Directories may be handed to
/// both; files belong to the one that opened them. Thread safe (the order of calls from several threads is
/// theirs).
class FaultFileSystem final : public FileSystem {
 public:
  /// `inner` must outlive this.
  explicit FaultFileSystem(FileSystem& inner) : inner_(inner) {}

  /// Call `number` fails with `error` and changes nothing.
  void fail_at(std::uint64_t number, Error error);
  /// So do call `number` and all after it: a device that went away.
  void fail_from(std::uint64_t number, Error error);
  /// Runs `hook` at the start of call `number`; to end the process there, or to change the tree as another
  /// would.
  void hook_at(std::uint64_t number, std::function<void()> hook);
  /// Each read of a file called `name` that covers byte `offset` gets that byte with `bit` (0 to 7) flipped.
  void flip_bit(std::string_view name, std::uint64_t offset, unsigned bit);
  /// No read returns more than `bytes` (at least 1).
  void shorten_reads(std::size_t bytes);
  /// now() says this instead of the real time.
  void set_now(std::int64_t ns_since_epoch);

  std::uint64_t calls() const;
  /// Names of the functions called, with the name that each was given: "unlink x", "rename a b", "list".
  std::vector<std::string> log() const;

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
  struct Flip {
    std::string name;
    std::uint64_t offset;
    unsigned bit;
  };

  /// Counts and logs a call; fails when it has to. Runs the hook without holding the mutex.
  Status enter(std::string call);
  void flip(const std::string& name, std::uint64_t offset, std::span<char> read) const;

  FileSystem& inner_;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
  std::map<std::uint64_t, Error> failures_;
  std::optional<std::pair<std::uint64_t, Error>> failure_from_;
  std::map<std::uint64_t, std::function<void()>> hooks_;
  std::vector<Flip> flips_;
  std::optional<std::size_t> longest_read_;
  std::optional<std::int64_t> now_;
};

}  // namespace cachetool
