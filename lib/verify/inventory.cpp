#include "verify/inventory.h"

#include <algorithm>
#include <numeric>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

std::string place(std::uint32_t root, std::string_view path) {
  std::string key = std::to_string(root);
  key += '/';
  key += path;
  return key;
}

}  // namespace

Expected<Inventory> Inventory::make(store::Source& source) {
  Inventory inventory;
  inventory.cache_ = &source.cache();
  store::WalkOptions options;
  // Around a single file lies what has nothing to do with it.
  options.whole_roots = inventory.cache_->roots.front().role != store::RootRole::kSingleFile;
  if (auto walked = source.walk(options, inventory); !walked)
    return tl::unexpected(std::move(walked.error()));
  inventory.finish();
  return inventory;
}

bool Inventory::artifact(const store::Artifact& artifact) {
  const std::string_view parent = store::directory_of(artifact.path);
  const auto [found, added] =
      by_path_.try_emplace(place(artifact.root, parent), static_cast<DirectoryId>(directories_.size()));
  if (added) directories_.push_back({artifact.root, std::string(parent), 0, 0});
  const bool in_scope = artifact.root != 0 || store::is_within(cache_->scope, artifact.path);
  files_.push_back({found->second, artifact.kind, in_scope, std::string(store::name_of(artifact.path)),
                    artifact.hash, artifact.stat.value_or(FileStat{})});
  return true;
}

/// The walk goes down between two files of a directory: brings the files of each directory together.
void Inventory::finish() {
  std::stable_sort(files_.begin(), files_.end(),
                   [](const File& a, const File& b) { return a.directory < b.directory; });
  for (FileId id = 0; id < files_.size(); ++id) {
    Directory& directory = directories_[files_[id].directory];
    if (directory.last == 0) directory.first = id;
    directory.last = id + 1;
  }
}

std::string Inventory::path(FileId id) const {
  return store::join_path(directory_of(id).path, files_[id].name);
}

std::optional<DirectoryId> Inventory::find_directory(std::uint32_t root, std::string_view path) const {
  const auto found = by_path_.find(place(root, path));
  if (found == by_path_.end()) return std::nullopt;
  return found->second;
}

std::optional<FileId> Inventory::find(std::uint32_t root, std::string_view path) const {
  const auto id = find_directory(root, store::directory_of(path));
  if (!id) return std::nullopt;
  const Directory& directory = directories_[*id];
  const std::string_view name = store::name_of(path);
  // The walk hands out names in bytewise order.
  const auto begin = files_.begin() + directory.first;
  const auto end = files_.begin() + directory.last;
  const auto found = std::lower_bound(
      begin, end, name, [](const File& file, std::string_view wanted) { return file.name < wanted; });
  if (found == end || found->name != name) return std::nullopt;
  return static_cast<FileId>(found - files_.begin());
}

}  // namespace cachetool::verify
