#include "base/memory_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/posix_error.h"

namespace cachetool {
namespace {

struct Node;
using NodePtr = std::shared_ptr<Node>;

struct Node {
  FileStat stat;
  std::string bytes;  // of a regular file, or the target of a link
  std::map<std::string, NodePtr, std::less<>> children;
  std::optional<ErrorCode> error;
  std::size_t shared_locks = 0;
  bool exclusive_lock = false;
};

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
  if (code == ErrorCode::kPermission) return failed(EACCES, action, std::move(path));
  return fail(code, fmt::format("cannot {}", action), std::move(path));
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0 && path.substr(0, slash) != ".") parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

FileStat filled_in(const Node& node) {
  constexpr std::uint64_t kBlock = 4096;
  FileStat stat = node.stat;
  stat.size = node.bytes.size();
  if (stat.type == FileType::kRegular) stat.allocated_bytes = (stat.size + kBlock - 1) / kBlock * kBlock;
  return stat;
}

void move_to_device(Node& top, std::uint64_t device) {
  std::vector<Node*> pending = {&top};
  while (!pending.empty()) {
    Node& node = *pending.back();
    pending.pop_back();
    node.stat.device = device;
    for (const auto& [name, child] : node.children) pending.push_back(child.get());
  }
}

bool contains(const Node& top, const Node& wanted) {
  std::vector<const Node*> pending = {&top};
  while (!pending.empty()) {
    const Node& node = *pending.back();
    pending.pop_back();
    if (&node == &wanted) return true;
    for (const auto& [name, child] : node.children) pending.push_back(child.get());
  }
  return false;
}

}  // namespace

struct MemoryFileSystem::State {
  mutable std::mutex mutex;
  NodePtr root;
  std::int64_t now = 1'700'000'000'000'000'000;
  std::uint64_t next_inode = 1;
  std::uint64_t next_temp = 1;
  SpaceInfo space{std::uint64_t{1} << 40, std::uint64_t{1} << 41, 1'000'000};

  NodePtr make(FileType type, std::uint32_t mode, std::uint64_t device) {
    auto node = std::make_shared<Node>();
    node->stat.type = type;
    node->stat.mode = mode;
    node->stat.device = device;
    node->stat.inode = next_inode++;
    node->stat.atime_ns = node->stat.mtime_ns = node->stat.ctime_ns = now;
    return node;
  }

  void touch(Node& node) const { node.stat.mtime_ns = node.stat.ctime_ns = now; }

  void attach(Node& dir, const std::string& name, NodePtr node) {
    dir.children.insert_or_assign(name, std::move(node));
    touch(dir);
  }

  void detach(Node& dir, const std::string& name) {
    const auto found = dir.children.find(name);
    found->second->stat.links -= found->second->stat.links > 0 ? 1 : 0;
    found->second->stat.ctime_ns = now;
    dir.children.erase(found);
    touch(dir);
  }

  /// The node that `path` names, or null; links are not followed.
  NodePtr find(std::string_view path) const {
    NodePtr node = root;
    for (const std::string& part : components(path)) {
      const auto child = node->children.find(part);
      if (child == node->children.end()) return nullptr;
      node = child->second;
    }
    return node;
  }

  NodePtr must_find(std::string_view path) const {
    NodePtr node = find(path);
    assert(node != nullptr);
    return node;
  }

  /// The directory that `path` lies in, made when missing, and the last component.
  std::pair<NodePtr, std::string> place(std::string_view path) {
    std::vector<std::string> parts = components(path);
    assert(!parts.empty());
    std::string last = std::move(parts.back());
    parts.pop_back();
    NodePtr dir = root;
    for (const std::string& part : parts) {
      NodePtr& child = dir->children[part];
      if (child == nullptr) child = make(FileType::kDirectory, 0755, dir->stat.device);
      assert(child->stat.type == FileType::kDirectory);
      dir = child;
    }
    return {dir, std::move(last)};
  }

  NodePtr add(std::string_view path, FileType type, std::uint32_t mode) {
    auto [dir, name] = place(path);
    NodePtr node = make(type, mode, dir->stat.device);
    attach(*dir, name, node);
    return node;
  }

  /// As the kernel resolves a path: every link on the way is followed, up to 40 of them.
  Expected<NodePtr> resolve(std::string_view path) const {
    constexpr int kMostLinks = 40;
    const std::string text(path);
    std::vector<NodePtr> way = {root};
    std::vector<std::string> todo = components(path);
    std::reverse(todo.begin(), todo.end());
    int links = 0;
    while (!todo.empty()) {
      const std::string part = std::move(todo.back());
      todo.pop_back();
      if (way.back()->stat.type != FileType::kDirectory) return failed(ENOTDIR, "open", text);
      if (part == "..") {
        if (way.size() > 1) way.pop_back();
        continue;
      }
      const auto child = way.back()->children.find(part);
      if (child == way.back()->children.end()) return failed(ENOENT, "open", text);
      if (child->second->stat.type != FileType::kSymlink) {
        way.push_back(child->second);
        continue;
      }
      if (++links > kMostLinks) return failed(ELOOP, "open", text);
      const std::string& target = child->second->bytes;
      if (target.starts_with('/')) way.resize(1);
      std::vector<std::string> more = components(target);
      todo.insert(todo.end(), std::make_move_iterator(more.rbegin()), std::make_move_iterator(more.rend()));
    }
    return way.back();
  }

  /// A child that may be opened: of the type expected, on the same device, without a set error.
  Expected<NodePtr> open(const Directory& dir, const Name& name, FileType expected) const {
    const Node& parent = node_of(dir);
    const auto child = parent.children.find(name.str());
    if (child == parent.children.end()) return failed(ENOENT, "open", name.str());
    const Node& node = *child->second;
    if (node.stat.type != expected) {
      return fail(ErrorCode::kNotRegular,
                  fmt::format("is a {}, not a {}", file_type_name(node.stat.type), file_type_name(expected)),
                  name.str());
    }
    if (node.error) return refused(*node.error, "open", name.str());
    if (node.stat.device != parent.stat.device) {
      return fail(ErrorCode::kMountPoint, "is on another file system than its directory", name.str());
    }
    return child->second;
  }

  /// The child to be changed or removed.
  Expected<NodePtr> child_of(const Node& dir, const Name& name, std::string_view action) const {
    if (dir.error) return refused(*dir.error, action, name.str());
    const auto child = dir.children.find(name.str());
    if (child == dir.children.end()) return failed(ENOENT, action, name.str());
    return child->second;
  }

  /// 0, or the errno of a rename of `source` onto what `to` has under `name`.
  int rename_refusal(const Node& source, const Node& to, const Name& name, Replace replace) const {
    if (source.stat.device != to.stat.device) return EXDEV;
    if (source.stat.type == FileType::kDirectory && contains(source, to)) return EINVAL;
    const auto target = to.children.find(name.str());
    if (target == to.children.end()) return 0;
    if (replace == Replace::kNo) return EEXIST;
    const bool onto_directory = target->second->stat.type == FileType::kDirectory;
    if (source.stat.type == FileType::kDirectory) {
      if (!onto_directory) return ENOTDIR;
      return target->second->children.empty() ? 0 : ENOTEMPTY;
    }
    return onto_directory ? EISDIR : 0;
  }
};

namespace {

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

MemoryFileSystem::MemoryFileSystem() : state_(std::make_shared<State>()) {
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
  FileStat stat = filled_in(node);
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
  auto node = state_->open(dir, name, FileType::kDirectory);
  if (!node) return tl::unexpected(std::move(node.error()));
  return std::make_shared<MemoryDirectory>(std::move(*node));
}

Expected<FileHandle> MemoryFileSystem::open_file(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  auto node = state_->open(dir, name, FileType::kRegular);
  if (!node) return tl::unexpected(std::move(node.error()));
  return std::make_unique<MemoryFile>(std::move(*node), name.str(), false);
}

Expected<FileStat> MemoryFileSystem::stat(const Directory& dir, const Name& name) {
  const std::lock_guard guard(state_->mutex);
  const Node& parent = node_of(dir);
  const auto child = parent.children.find(name.str());
  if (child == parent.children.end()) return failed(ENOENT, "read the status", name.str());
  return filled_in(*child->second);
}

Expected<FileStat> MemoryFileSystem::stat(const File& file) {
  const std::lock_guard guard(state_->mutex);
  return filled_in(*memory(file).node);
}

Expected<FileStat> MemoryFileSystem::stat(const Directory& dir) {
  const std::lock_guard guard(state_->mutex);
  return filled_in(node_of(dir));
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
  if (!parent.children.contains(name.str())) {
    if (parent.error) return refused(*parent.error, "open", name.str());
    state_->attach(parent, name.str(), state_->make(FileType::kRegular, 0644, parent.stat.device));
  }
  auto node = state_->open(dir, name, FileType::kRegular);
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

Expected<SpaceInfo> MemoryFileSystem::free_space(const Directory&) {
  const std::lock_guard guard(state_->mutex);
  return state_->space;
}

}  // namespace cachetool
