#include "base/memory_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <iterator>
#include <vector>

#include "base/posix_error.h"

namespace cachetool {
namespace {

tl::unexpected<Error> failed(int number, std::string_view action, std::string path) {
  return tl::unexpected(system_error(number, action, std::move(path)));
}

tl::unexpected<Error> refused(ErrorCode code, std::string_view action, std::string path) {
  return tl::unexpected(refusal_error(code, action, std::move(path)));
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

bool contains(const MemoryNode& top, const MemoryNode& wanted) {
  std::vector<const MemoryNode*> pending = {&top};
  while (!pending.empty()) {
    const MemoryNode& node = *pending.back();
    pending.pop_back();
    if (&node == &wanted) return true;
    for (const auto& [name, child] : node.children) pending.push_back(child.get());
  }
  return false;
}

}  // namespace

FileStat status_of(const MemoryNode& node) {
  constexpr std::uint64_t kBlock = 4096;
  FileStat stat = node.stat;
  stat.size = node.bytes.size();
  if (stat.type == FileType::kRegular) stat.allocated_bytes = (stat.size + kBlock - 1) / kBlock * kBlock;
  return stat;
}

void move_to_device(MemoryNode& top, std::uint64_t device) {
  std::vector<MemoryNode*> pending = {&top};
  while (!pending.empty()) {
    MemoryNode& node = *pending.back();
    pending.pop_back();
    node.stat.device = device;
    for (const auto& [name, child] : node.children) pending.push_back(child.get());
  }
}

Error refusal_error(ErrorCode code, std::string_view action, std::string path) {
  if (code == ErrorCode::kPermission) return system_error(EACCES, action, std::move(path));
  return Error{code, fmt::format("cannot {}", action), std::move(path), {}, {}};
}

MemoryNodePtr MemoryTree::make(FileType type, std::uint32_t mode, std::uint64_t device) {
  auto node = std::make_shared<MemoryNode>();
  node->stat.type = type;
  node->stat.mode = mode;
  node->stat.device = device;
  node->stat.inode = next_inode++;
  node->stat.atime_ns = node->stat.mtime_ns = node->stat.ctime_ns = now;
  return node;
}

void MemoryTree::touch(MemoryNode& node) const {
  node.stat.mtime_ns = node.stat.ctime_ns = now;
}

void MemoryTree::attach(MemoryNode& dir, const std::string& name, MemoryNodePtr node) {
  dir.children.insert_or_assign(name, std::move(node));
  touch(dir);
}

void MemoryTree::detach(MemoryNode& dir, const std::string& name) {
  const auto found = dir.children.find(name);
  found->second->stat.links -= found->second->stat.links > 0 ? 1 : 0;
  found->second->stat.ctime_ns = now;
  dir.children.erase(found);
  touch(dir);
}

MemoryNodePtr MemoryTree::find(std::string_view path) const {
  MemoryNodePtr node = root;
  for (const std::string& part : components(path)) {
    const auto child = node->children.find(part);
    if (child == node->children.end()) return nullptr;
    node = child->second;
  }
  return node;
}

MemoryNodePtr MemoryTree::must_find(std::string_view path) const {
  MemoryNodePtr node = find(path);
  assert(node != nullptr);
  return node;
}

std::pair<MemoryNodePtr, std::string> MemoryTree::place(std::string_view path) {
  std::vector<std::string> parts = components(path);
  assert(!parts.empty());
  std::string last = std::move(parts.back());
  parts.pop_back();
  MemoryNodePtr dir = root;
  for (const std::string& part : parts) {
    MemoryNodePtr& child = dir->children[part];
    if (child == nullptr) child = make(FileType::kDirectory, 0755, dir->stat.device);
    assert(child->stat.type == FileType::kDirectory);
    dir = child;
  }
  return {dir, std::move(last)};
}

MemoryNodePtr MemoryTree::add(std::string_view path, FileType type, std::uint32_t mode) {
  auto [dir, name] = place(path);
  MemoryNodePtr node = make(type, mode, dir->stat.device);
  attach(*dir, name, node);
  return node;
}

Expected<MemoryNodePtr> MemoryTree::resolve(std::string_view path) const {
  constexpr int kMostLinks = 40;
  const std::string text(path);
  std::vector<MemoryNodePtr> way = {root};
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

Expected<MemoryNodePtr> MemoryTree::open(const MemoryNode& parent, const Name& name,
                                         FileType expected) const {
  const auto child = parent.children.find(name.str());
  if (child == parent.children.end()) return failed(ENOENT, "open", name.str());
  const MemoryNode& node = *child->second;
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

Expected<MemoryNodePtr> MemoryTree::child_of(const MemoryNode& dir, const Name& name,
                                             std::string_view action) const {
  if (dir.error) return refused(*dir.error, action, name.str());
  const auto child = dir.children.find(name.str());
  if (child == dir.children.end()) return failed(ENOENT, action, name.str());
  return child->second;
}

int MemoryTree::rename_refusal(const MemoryNode& source, const MemoryNode& to, const Name& name,
                               Replace replace) const {
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

}  // namespace cachetool
