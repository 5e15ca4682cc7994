#include "base/fault_file_system.h"

#include <algorithm>

namespace cachetool {
namespace {

/// A file of the wrapped system, with its name for flip_bit and the log.
struct FaultFile final : File {
  FaultFile(FileHandle opened, std::string file_name)
      : inner(std::move(opened)), name(std::move(file_name)) {}
  FileHandle inner;
  std::string name;
};

File& inner_of(File& file) {
  return *static_cast<FaultFile&>(file).inner;
}
const File& inner_of(const File& file) {
  return *static_cast<const FaultFile&>(file).inner;
}
const std::string& name_of(const File& file) {
  return static_cast<const FaultFile&>(file).name;
}

}  // namespace

void FaultFileSystem::fail_at(std::uint64_t number, Error error) {
  const std::lock_guard guard(mutex_);
  failures_.insert_or_assign(number, std::move(error));
}

void FaultFileSystem::fail_from(std::uint64_t number, Error error) {
  const std::lock_guard guard(mutex_);
  failure_from_.emplace(number, std::move(error));
}

void FaultFileSystem::hook_at(std::uint64_t number, std::function<void()> hook) {
  const std::lock_guard guard(mutex_);
  hooks_.insert_or_assign(number, std::move(hook));
}

void FaultFileSystem::flip_bit(std::string_view name, std::uint64_t offset, unsigned bit) {
  const std::lock_guard guard(mutex_);
  flips_.push_back({std::string(name), offset, bit});
}

void FaultFileSystem::shorten_reads(std::size_t bytes) {
  const std::lock_guard guard(mutex_);
  longest_read_ = std::max<std::size_t>(1, bytes);
}

void FaultFileSystem::set_now(std::int64_t ns_since_epoch) {
  const std::lock_guard guard(mutex_);
  now_ = ns_since_epoch;
}

std::uint64_t FaultFileSystem::calls() const {
  const std::lock_guard guard(mutex_);
  return log_.size();
}

std::vector<std::string> FaultFileSystem::log() const {
  const std::lock_guard guard(mutex_);
  return log_;
}

Status FaultFileSystem::enter(std::string call) {
  std::function<void()> hook;
  std::optional<Error> error;
  {
    const std::lock_guard guard(mutex_);
    log_.push_back(std::move(call));
    const std::uint64_t number = log_.size();
    if (const auto found = hooks_.find(number); found != hooks_.end()) hook = found->second;
    if (const auto found = failures_.find(number); found != failures_.end()) {
      error = found->second;
    } else if (failure_from_ && number >= failure_from_->first) {
      error = failure_from_->second;
    }
  }
  if (hook) hook();
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

void FaultFileSystem::flip(const std::string& name, std::uint64_t offset, std::span<char> read) const {
  const std::lock_guard guard(mutex_);
  for (const Flip& flip : flips_) {
    if (flip.name != name || flip.offset < offset || flip.offset - offset >= read.size()) continue;
    char& byte = read[static_cast<std::size_t>(flip.offset - offset)];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << flip.bit));
  }
}

Expected<DirHandle> FaultFileSystem::open_root(std::string_view path) {
  return enter("open_root " + std::string(path)).and_then([&] { return inner_.open_root(path); });
}

Expected<std::vector<DirEntry>> FaultFileSystem::list(const Directory& dir) {
  return enter("list").and_then([&] { return inner_.list(dir); });
}

Expected<DirHandle> FaultFileSystem::open_dir(const Directory& dir, const Name& name) {
  return enter("open_dir " + name.str()).and_then([&] { return inner_.open_dir(dir, name); });
}

Expected<FileHandle> FaultFileSystem::open_file(const Directory& dir, const Name& name) {
  return enter("open_file " + name.str())
      .and_then([&] { return inner_.open_file(dir, name); })
      .map([&](FileHandle opened) -> FileHandle {
        return std::make_unique<FaultFile>(std::move(opened), name.str());
      });
}

Expected<FileStat> FaultFileSystem::stat(const Directory& dir, const Name& name) {
  return enter("stat " + name.str()).and_then([&] { return inner_.stat(dir, name); });
}

Expected<FileStat> FaultFileSystem::stat(const File& file) {
  return enter("stat " + name_of(file)).and_then([&] { return inner_.stat(inner_of(file)); });
}

Expected<FileStat> FaultFileSystem::stat(const Directory& dir) {
  return enter("stat").and_then([&] { return inner_.stat(dir); });
}

Expected<std::string> FaultFileSystem::read_link(const Directory& dir, const Name& name) {
  return enter("read_link " + name.str()).and_then([&] { return inner_.read_link(dir, name); });
}

Expected<std::size_t> FaultFileSystem::read_at(const File& file, std::uint64_t offset, std::span<char> out) {
  std::size_t longest = out.size();
  {
    const std::lock_guard guard(mutex_);
    if (longest_read_) longest = std::min(longest, *longest_read_);
  }
  return enter("read_at " + name_of(file))
      .and_then([&] { return inner_.read_at(inner_of(file), offset, out.first(longest)); })
      .map([&](std::size_t count) {
        flip(name_of(file), offset, out.first(count));
        return count;
      });
}

Expected<TempFile> FaultFileSystem::create_temp(const Directory& dir) {
  return enter("create_temp").and_then([&] { return inner_.create_temp(dir); }).map([](TempFile temp) {
    std::string name = temp.name.str();
    return TempFile{std::move(temp.name), std::make_unique<FaultFile>(std::move(temp.file), std::move(name))};
  });
}

Expected<DirHandle> FaultFileSystem::make_dir(const Directory& dir, const Name& name, std::uint32_t mode) {
  return enter("make_dir " + name.str()).and_then([&] { return inner_.make_dir(dir, name, mode); });
}

Status FaultFileSystem::write(File& file, std::string_view bytes) {
  return enter("write " + name_of(file)).and_then([&] { return inner_.write(inner_of(file), bytes); });
}

Status FaultFileSystem::set_mode(File& file, std::uint32_t mode) {
  return enter("set_mode " + name_of(file)).and_then([&] { return inner_.set_mode(inner_of(file), mode); });
}

Status FaultFileSystem::set_times(File& file, std::int64_t atime_ns, std::int64_t mtime_ns) {
  return enter("set_times " + name_of(file)).and_then([&] {
    return inner_.set_times(inner_of(file), atime_ns, mtime_ns);
  });
}

Status FaultFileSystem::rename(const Directory& from_dir, const Name& from, const Directory& to_dir,
                               const Name& to, Replace replace) {
  return enter("rename " + from.str() + " " + to.str()).and_then([&] {
    return inner_.rename(from_dir, from, to_dir, to, replace);
  });
}

Status FaultFileSystem::unlink(const Directory& dir, const Name& name) {
  return enter("unlink " + name.str()).and_then([&] { return inner_.unlink(dir, name); });
}

Status FaultFileSystem::remove_dir(const Directory& dir, const Name& name) {
  return enter("remove_dir " + name.str()).and_then([&] { return inner_.remove_dir(dir, name); });
}

Status FaultFileSystem::sync(File& file) {
  return enter("sync " + name_of(file)).and_then([&] { return inner_.sync(inner_of(file)); });
}

Status FaultFileSystem::sync(const Directory& dir) {
  return enter("sync").and_then([&] { return inner_.sync(dir); });
}

Expected<std::unique_ptr<Lock>> FaultFileSystem::try_lock(const Directory& dir, const Name& name,
                                                          LockMode mode) {
  return enter("try_lock " + name.str()).and_then([&] { return inner_.try_lock(dir, name, mode); });
}

std::int64_t FaultFileSystem::now() {
  {
    const std::lock_guard guard(mutex_);
    if (now_) return *now_;
  }
  return inner_.now();
}

Expected<SpaceInfo> FaultFileSystem::free_space(const Directory& dir) {
  return enter("free_space").and_then([&] { return inner_.free_space(dir); });
}

}  // namespace cachetool
