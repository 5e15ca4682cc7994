#include "base/memory_file_system.h"

#include <fmt/format.h>

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "base/memory_tree.h"
#include "base/posix_error.h"

namespace cachetool {
namespace {

using Node = MemoryNode;
using NodePtr = MemoryNodePtr;

struct MemoryDirectory final : Directory {
  explicit MemoryDirectory(NodePtr opened) : node(std::move(opened)) {}
  NodePtr node;
};

struct MemoryFile final : File {
  MemoryFile(NodePtr opened, std::string file_name, bool may_write)
      : node(std::move(opened)), name(std::move(file_name)), writable(may_write) {}
  NodePtr node;
  std::string name;
  bool writable;
};

Node& node_of(const Directory& dir) {
  return *static_cast<const MemoryDirectory&>(dir).node;
}
const MemoryFile& memory(const File& file) {
  return static_cast<const MemoryFile&>(file);
}

tl::unexpected<Error> failed(int number, std::string_view action, std::string path = {}) {
  return tl::unexpected(system_error(number, action, std::move(path)));
}

tl::unexpected<Error> refused(ErrorCode code, std::string_view action, std::string path = {}) {
  return tl::unexpected(refusal_error(code, action, std::move(path)));
}

/// Releases on destruction, under the tree's mutex.
class MemoryLock final : public Lock {
 public:
  MemoryLock(std::shared_ptr<void> state, std::mutex& mutex, NodePtr node, LockMode mode)
      : state_(std::move(state)), mutex_(mutex), node_(std::move(node)), mode_(mode) {}
  ~MemoryLock() override {
    const std::lock_guard guard(mutex_);
    if (mode_ == LockMode::kExclusive) {
      node_->exclusive_lock = false;
    } else {
      --node_->shared_locks;
    }
  }

 private:
  std::shared_ptr<void> state_;  // keeps the mutex alive
  std::mutex& mutex_;
  NodePtr node_;
  LockMode mode_;
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : state_(std::make_shared<MemoryTree>()) {
  constexpr std::uint64_t kDevice = 1;
  state_->root = state_->make(FileType::kDirectory, 0755, kDevice);
}

MemoryFileSystem::~MemoryFileSystem() = default;

void MemoryFileSystem::add_dir(std::string_view path) {
  const std::lock_guard guard(state_->mutex);
  if (state_->find(path) == nullptr) state_->add(path, FileType::kDirectory, 0755);
}

void MemoryFileSystem::add_file(std::string_view path, std::string_view bytes) {
  const std::lock_guard guard(state_->mutex);
  state_->add(path, FileType::kRegular, 0644)->bytes = bytes;
}

void MemoryFileSystem::add_symlink(std::string_view path, std::string_view target) {
  const std::lock_guard guard(state_->mutex);
  state_->add(path, FileType::kSymlink, 0777)->bytes = target;
}

void MemoryFileSystem::add_special(std::string_view path, FileType type) {
  const std::lock_guard guard(state_->mutex);
  state_->add(path, type, 0644);
}

void MemoryFileSystem::add_hard_link(std::string_view path, std::string_view existing) {
  const std::lock_guard guard(state_->mutex);
  NodePtr node = state_->must_find(existing);
  auto [dir, name] = state_->place(path);
  ++node->stat.links;
  state_->attach(*dir, name, std::move(node));
}

void MemoryFileSystem::remove(std::string_view path) {
  const std::lock_guard guard(state_->mutex);
  state_->must_find(path);
  auto [dir, name] = state_->place(path);
  state_->detach(*dir, name);
}

void MemoryFileSystem::change_stat(std::string_view path, const std::function<void(FileStat&)>& change) {
  const std::lock_guard guard(state_->mutex);
  Node& node = *state_->must_find(path);
  FileStat stat = status_of(node);
  change(stat);
  stat.type = node.stat.type;
  stat.inode = node.stat.inode;
  node.stat = stat;
}

void MemoryFileSystem::set_error(std::string_view path, std::optional<ErrorCode> code) {
  const std::lock_guard guard(state_->mutex);
  state_->must_find(path)->error = code;
}

void MemoryFileSystem::set_device(std::string_view path, std::uint64_t device) {
  const std::lock_guard guard(state_->mutex);
  move_to_device(*state_->must_find(path), device);
}

void MemoryFileSystem::set_now(std::int64_t ns_since_epoch) {
  const std::lock_guard guard(state_->mutex);
  state_->now = ns_since_epoch;
}

void MemoryFileSystem::set_free_space(SpaceInfo space) {
  const std::lock_guard guard(state_->mutex);
  state_->space = space;
}

void MemoryFileSystem::set_free_space(std::uint64_t device, SpaceInfo space) {
  const std::lock_guard guard(state_->mutex);
  state_->device_space[device] = space;
}

std::optional<std::string> MemoryFileSystem::contents(std::string_view path) const {
  const std::lock_guard guard(state_->mutex);
  const NodePtr node = state_->find(path);
  if (node == nullptr || node->stat.type != FileType::kRegular) return std::nullopt;
  return node->bytes;
}

bool MemoryFileSystem::exists(std::string_view path) const {
  const std::lock_guard guard(state_->mutex);
  return state_->find(path) != nullptr;
}

Expected<DirHandle> MemoryFileSystem::open_root(std::string_view path) {
  const std::lock_guard guard(state_->mutex);
  auto node = state_->resolve(path);
  if (!node) return tl::unexpected(std::move(node.error()));
  if ((*node)->error) return refused(*(*node)->error, "open", std::string(path));
  if ((*node)->stat.type != FileType::kDirectory) {
    return fail(ErrorCode::kNotRegular, "is not a directory", std::string(path));
  }
  return std::make_shared<MemoryDirectory>(std::move(*node));
}

Expected<std::vector<DirEntry>> MemoryFileSystem::list(const Directory& dir) {
  const std::lock_guard guard(state_->mutex);
  const Node& node = node_of(dir);
  if (node.error) return refused(*node.error, "list");
  std::vector<DirEntry> entries;
  for (const auto& [name, child] : node.children) {
    entries.push_back({*Name::parse(name), child->stat.type, child->stat.inode});
  }
  return entries;
}

Expected<DirHandle> MemoryFileSystem::open_dir(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  auto node = state_->open(node_of(dir), name, FileType::kDirectory);
  if (!node) return tl::unexpected(std::move(node.error()));
  return std::make_shared<MemoryDirectory>(std::move(*node));
}

Expected<FileHandle> MemoryFileSystem::open_file(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  auto node = state_->open(node_of(dir), name, FileType::kRegular);
  if (!node) return tl::unexpected(std::move(node.error()));
  return std::make_unique<MemoryFile>(std::move(*node), name.str(), false);
}

Expected<FileStat> MemoryFileSystem::stat(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  const Node& parent = node_of(dir);
  const auto child = parent.children.find(name.str());
  if (child == parent.children.end()) return failed(ENOENT, "read the status", name.str());
  return status_of(*child->second);
}

Expected<FileStat> MemoryFileSystem::stat(const File& file) {
  const std::lock_guard guard(state_->mutex);
  return status_of(*memory(file).node);
}

Expected<FileStat> MemoryFileSystem::stat(const Directory& dir) {
  const std::lock_guard guard(state_->mutex);
  return status_of(node_of(dir));
}

Expected<std::string> MemoryFileSystem::read_link(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  auto node = state_->child_of(node_of(dir), name, "read the link");
  if (!node) return tl::unexpected(std::move(node.error()));
  if ((*node)->stat.type != FileType::kSymlink) return failed(EINVAL, "read the link", name.str());
  return (*node)->bytes;
}

Expected<std::size_t> MemoryFileSystem::read_at(const File& file, std::uint64_t offset, std::span<char> out) {
  const std::lock_guard guard(state_->mutex);
  const std::string& bytes = memory(file).node->bytes;
  if (offset >= bytes.size()) return 0;
  return bytes.copy(out.data(), out.size(), static_cast<std::size_t>(offset));
}

Expected<TempFile> MemoryFileSystem::create_temp(const Directory& dir) {
  const std::lock_guard guard(state_->mutex);
  Node& parent = node_of(dir);
  if (parent.error) return refused(*parent.error, "create a temporary file");
  const std::string text = fmt::format(".cachetool.{:08}.tmp", state_->next_temp++);
  NodePtr node = state_->make(FileType::kRegular, 0600, parent.stat.device);
  state_->attach(parent, text, node);
  return TempFile{*Name::parse(text), std::make_unique<MemoryFile>(std::move(node), text, true)};
}

Expected<DirHandle> MemoryFileSystem::make_dir(const Directory& dir, const Name& name, std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  Node& parent = node_of(dir);
  if (parent.error) return refused(*parent.error, "make a directory", name.str());
  if (parent.children.contains(name.str())) return failed(EEXIST, "make a directory", name.str());
  NodePtr node = state_->make(FileType::kDirectory, mode, parent.stat.device);
  state_->attach(parent, name.str(), node);
  return std::make_shared<MemoryDirectory>(std::move(node));
}

Status MemoryFileSystem::write(File& file, std::string_view bytes) {
  const std::lock_guard guard(state_->mutex);
  if (!memory(file).writable) return failed(EBADF, "write", memory(file).name);
  memory(file).node->bytes += bytes;
  state_->touch(*memory(file).node);
  return {};
}

Status MemoryFileSystem::set_mode(File& file, std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  memory(file).node->stat.mode = mode & 07777U;
  return {};
}

Status MemoryFileSystem::set_times(File& file, std::int64_t atime_ns, std::int64_t mtime_ns) {
  const std::lock_guard guard(state_->mutex);
  FileStat& stat = memory(file).node->stat;
  stat.atime_ns = atime_ns;
  stat.mtime_ns = mtime_ns;
  stat.ctime_ns = state_->now;
  return {};
}

Status MemoryFileSystem::rename(const Directory& from_dir, const Name& from, const Directory& to_dir,
                                const Name& to, Replace replace) {
  const std::lock_guard guard(state_->mutex);
  Node& source_dir = node_of(from_dir);
  Node& target_dir = node_of(to_dir);
  const std::string action = fmt::format("rename to {}", to.str());
  auto source = state_->child_of(source_dir, from, action);
  if (!source) return tl::unexpected(std::move(source.error()));
  if (target_dir.error) return refused(*target_dir.error, action, from.str());
  const int refusal = state_->rename_refusal(**source, target_dir, to, replace);
  if (refusal != 0) return failed(refusal, action, from.str());
  const auto target = target_dir.children.find(to.str());
  if (target != target_dir.children.end()) {
    if (target->second == *source) return {};  // two names of one file: both stay
    state_->detach(target_dir, to.str());
  }
  source_dir.children.erase(from.str());
  state_->touch(source_dir);
  state_->attach(target_dir, to.str(), std::move(*source));
  return {};
}

Status MemoryFileSystem::unlink(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  const auto node = state_->child_of(node_of(dir), name, "remove");
  if (!node) return tl::unexpected(node.error());
  if ((*node)->stat.type == FileType::kDirectory) return failed(EISDIR, "remove", name.str());
  state_->detach(node_of(dir), name.str());
  return {};
}

Status MemoryFileSystem::remove_dir(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  const auto node = state_->child_of(node_of(dir), name, "remove the directory");
  if (!node) return tl::unexpected(node.error());
  if ((*node)->stat.type != FileType::kDirectory) return failed(ENOTDIR, "remove the directory", name.str());
  if (!(*node)->children.empty()) return failed(ENOTEMPTY, "remove the directory", name.str());
  state_->detach(node_of(dir), name.str());
  return {};
}

Status MemoryFileSystem::sync(File&) {
  return {};
}
Status MemoryFileSystem::sync(const Directory&) {
  return {};
}

Expected<std::unique_ptr<Lock>> MemoryFileSystem::try_lock(const Directory& dir, const Name& name,
                                                           LockMode mode) {
  const std::lock_guard guard(state_->mutex);
  Node& parent = node_of(dir);
  if (mode == LockMode::kExclusive && !parent.children.contains(name.str())) {
    if (parent.error) return refused(*parent.error, "open", name.str());
    state_->attach(parent, name.str(), state_->make(FileType::kRegular, 0644, parent.stat.device));
  }
  auto node = state_->open(node_of(dir), name, FileType::kRegular);
  if (!node) return tl::unexpected(std::move(node.error()));
  if ((*node)->exclusive_lock || (mode == LockMode::kExclusive && (*node)->shared_locks > 0)) {
    return failed(EWOULDBLOCK, "lock", name.str());
  }
  if (mode == LockMode::kExclusive) {
    (*node)->exclusive_lock = true;
  } else {
    ++(*node)->shared_locks;
  }
  return std::make_unique<MemoryLock>(state_, state_->mutex, std::move(*node), mode);
}

std::int64_t MemoryFileSystem::now() {
  const std::lock_guard guard(state_->mutex);
  return state_->now;
}

Expected<SpaceInfo> MemoryFileSystem::free_space(const Directory& dir) {
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->device_space.find(node_of(dir).stat.device);
  return found == state_->device_space.end() ? state_->space : found->second;
}

}  // namespace cachetool
