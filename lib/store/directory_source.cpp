#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "store/classify.h"
#include "store/lookup.h"
#include "store/paths.h"
#include "store/source.h"
#include "store/walk.h"

namespace cachetool::store {
namespace {

using torch::EntryKind;
using torch::HashName;

std::string_view tree_name(EntryKind kind) {
  return kind == EntryKind::kFxGraph ? "fxgraph" : "aotautograd";
}
char key_prefix(EntryKind kind) {
  return kind == EntryKind::kFxGraph ? 'f' : 'a';
}

std::optional<HashName> parse_key(std::string_view text, EntryKind kind) {
  auto key = HashName::parse(text);
  if (key && key->prefix != key_prefix(kind)) key.reset();
  return key;
}

bool may_be_directory(const DirEntry& entry) {
  return entry.type == FileType::kDirectory || entry.type == FileType::kUnknown;
}

/// The directories that keys lie in, opened once: all of aotautograd/, and the shards used last of fxgraph/
/// (a cache has up to 1024 of them, more than a process may have open).
class KeyParents {
 public:
  KeyParents(FileSystem& fs, const CacheSet& set) : fs_(fs), set_(set) {}

  Expected<DirHandle> open(std::uint16_t store, EntryKind kind, std::string_view shard) {
    const std::string path = join_path(tree_path(store, kind), shard);
    const std::scoped_lock lock(mutex_);
    for (const Slot& slot : slots_) {
      if (slot.store == store && slot.path == path && slot.directory) return slot.directory;
    }
    auto directory = open_below(fs_, set_.roots[set_.stores[store].root].directory, path);
    if (directory) slots_[next_++ % slots_.size()] = Slot{store, path, *directory};
    return directory;
  }

  std::string tree_path(std::uint16_t store, EntryKind kind) const {
    return join_path(set_.stores[store].path, tree_name(kind));
  }

 private:
  struct Slot {
    std::uint16_t store = 0;
    std::string path;
    DirHandle directory;
  };

  FileSystem& fs_;
  const CacheSet& set_;
  std::mutex mutex_;
  std::array<Slot, 8> slots_;
  std::size_t next_ = 0;
};

class DirectorySource final : public Source {
 public:
  DirectorySource(FileSystem& fs, CacheSet set) : fs_(fs), set_(std::move(set)), parents_(fs_, set_) {
    if (set_.scope.empty() || set_.roots[0].role == RootRole::kSingleFile) return;
    CacheSet unscoped = set_;
    unscoped.scope.clear();
    unscoped.scope_is_file = false;
    whole_ = std::make_unique<DirectorySource>(fs_, std::move(unscoped));
  }

  Facts facts() const override { return {.live = true, .has_names = true, .has_times = true}; }
  const CacheSet& cache() const override { return set_; }
  Source& whole() override { return whole_ ? *whole_ : *this; }

  Status walk(const WalkOptions& options, ArtifactSink& sink) override {
    return walk_cache(fs_, set_, options, sink);
  }

  std::vector<KeyRef> keys(std::vector<Skipped>& skipped) override {
    std::vector<KeyRef> found;
    for (std::size_t i = 0; i < set_.stores.size(); ++i) {
      const auto store = static_cast<std::uint16_t>(i);
      if (set_.stores[i].is_file) {
        add_file_key(store, found);
        continue;
      }
      add_sharded_keys(store, found, skipped);
      add_flat_keys(store, EntryKind::kAotAutograd, {}, found, skipped);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Expected<KeyListing> open_key(const KeyRef& key) override {
    if (set_.stores[key.store].is_file) return open_file_key(key);
    const std::string name = key.key.str();
    const std::string shard = key.kind == EntryKind::kFxGraph ? name.substr(1, 2) : std::string();
    const std::string path = key_path(key);
    const auto with_path = [&](Error error) {
      if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kNoSuchKey;
      error.path = path;
      return tl::unexpected(std::move(error));
    };
    auto parent = parents_.open(key.store, key.kind, shard);
    if (!parent) return with_path(std::move(parent.error()));
    auto directory = fs_.open_dir(**parent, *Name::parse(name));
    if (!directory) return with_path(std::move(directory.error()));
    auto entries = fs_.list(**directory);
    if (!entries) return with_path(std::move(entries.error()));

    KeyListing listing;
    const std::uint32_t root = set_.stores[key.store].root;
    for (DirEntry& entry : *entries) {
      const std::string& leaf = entry.name.str();
      if (!in_scope(root, path, leaf)) continue;
      if (entry.type != FileType::kRegular && entry.type != FileType::kUnknown) {
        const std::string what(file_type_name(entry.type));
        std::string place = join_path(path, leaf);
        Error error{ErrorCode::kNotRegular, what + ", not followed", place, {}, {}};
        listing.skipped.push_back({root, std::move(place), entry.type, std::move(error)});
      } else if (is_temporary_name(leaf)) {
        listing.temporaries.push_back(leaf);
      } else {
        listing.entries.push_back(EntryRef{key, leaf, *directory, 0, 0});
      }
    }
    return listing;
  }

  Expected<FileStat> read_entry(const EntryRef& entry, std::uint64_t max_bytes,
                                std::string& buffer) override {
    auto name = Name::parse(entry.leaf);
    if (!name) return tl::unexpected(std::move(name.error()));
    auto stat = cachetool::read_file(fs_, *entry.directory, *name, max_bytes, buffer);
    if (!stat) {
      // It was listed a moment ago.
      if (stat.error().code == ErrorCode::kNotFound) stat.error().code = ErrorCode::kVanished;
      stat.error().path = entry_path(set_, entry);
    }
    return stat;
  }

  Expected<FileStat> read_file(std::uint32_t root, std::string_view path, std::uint64_t max_bytes,
                               std::string& buffer) override {
    auto place = open_parent(fs_, set_.roots[root].directory, path);
    if (!place) return tl::unexpected(std::move(place.error()));
    auto stat = cachetool::read_file(fs_, *place->directory, place->name, max_bytes, buffer);
    if (!stat) stat.error().path = std::string(path);
    return stat;
  }

  Expected<FileStat> stat_file(std::uint32_t root, std::string_view path) override {
    auto place = open_parent(fs_, set_.roots[root].directory, path);
    if (!place) return tl::unexpected(std::move(place.error()));
    auto stat = fs_.stat(*place->directory, place->name);
    if (!stat) stat.error().path = std::string(path);
    return stat;
  }

 private:
  std::string key_path(const KeyRef& key) const {
    const std::string name = key.key.str();
    std::string path = parents_.tree_path(key.store, key.kind);
    if (key.kind == EntryKind::kFxGraph) path = join_path(path, std::string_view(name).substr(1, 2));
    return join_path(path, name);
  }

  /// Whether a file is inside what the user pointed at.
  bool in_scope(std::uint32_t root, std::string_view directory, std::string_view leaf) const {
    if (set_.scope.empty()) return true;
    return root == 0 && is_within(set_.scope, join_path(directory, leaf));
  }

  /// Whether a directory is inside it, or on the way to it.
  bool touches_scope(std::uint32_t root, std::string_view path) const {
    if (set_.scope.empty()) return true;
    return root == 0 && (is_within(set_.scope, path) || is_within(path, set_.scope));
  }

  void add_sharded_keys(std::uint16_t store, std::vector<KeyRef>& found, std::vector<Skipped>& skipped) {
    const EntryStore& place = set_.stores[store];
    const std::string path = parents_.tree_path(store, EntryKind::kFxGraph);
    if (!touches_scope(place.root, path)) return;
    for (const DirEntry& shard : list(place.root, path, skipped)) {
      if (!may_be_directory(shard) || !is_shard_name(shard.name.str())) continue;
      add_flat_keys(store, EntryKind::kFxGraph, shard.name.str(), found, skipped);
    }
  }

  void add_flat_keys(std::uint16_t store, EntryKind kind, std::string_view shard, std::vector<KeyRef>& found,
                     std::vector<Skipped>& skipped) {
    const EntryStore& place = set_.stores[store];
    const std::string path = join_path(parents_.tree_path(store, kind), shard);
    if (!touches_scope(place.root, path)) return;
    for (const DirEntry& entry : list(place.root, path, skipped)) {
      const std::string& name = entry.name.str();
      const auto key = may_be_directory(entry) ? parse_key(name, kind) : std::nullopt;
      // torch looks for a key only in its own shard.
      if (!key || (!shard.empty() && std::string_view(name).substr(1, 2) != shard)) continue;
      if (!set_.scope.empty() && !touches_scope(place.root, join_path(path, name))) continue;
      found.push_back(KeyRef{*key, kind, store});
    }
  }

  /// What `path` holds; nothing when it isn't there (an ordinary cache may lack it), and a note when it can't
  /// be listed.
  std::vector<DirEntry> list(std::uint32_t root, const std::string& path, std::vector<Skipped>& skipped) {
    auto directory = open_below(fs_, set_.roots[root].directory, path);
    if (directory) {
      auto entries = fs_.list(**directory);
      if (entries) return std::move(*entries);
      skipped.push_back({root, path, FileType::kDirectory, std::move(entries.error())});
    } else if (directory.error().code != ErrorCode::kNotFound &&
               directory.error().code != ErrorCode::kVanished) {
      skipped.push_back({root, path, FileType::kDirectory, std::move(directory.error())});
    }
    return {};
  }

  void add_file_key(std::uint16_t store, std::vector<KeyRef>& found) const {
    if (set_.single_file_kind == ArtifactKind::kFxGraphEntry)
      found.push_back({HashName{}, EntryKind::kFxGraph, store});
    if (set_.single_file_kind == ArtifactKind::kAotAutogradEntry) {
      found.push_back({HashName{}, EntryKind::kAotAutograd, store});
    }
  }

  Expected<KeyListing> open_file_key(const KeyRef& key) {
    const EntryStore& store = set_.stores[key.store];
    auto place = open_parent(fs_, set_.roots[store.root].directory, store.path);
    if (!place) return tl::unexpected(std::move(place.error()));
    KeyListing listing;
    listing.entries.push_back(EntryRef{key, place->name.str(), std::move(place->directory), 0, 0});
    return listing;
  }

  FileSystem& fs_;
  CacheSet set_;
  KeyParents parents_;
  std::unique_ptr<DirectorySource> whole_;
};

}  // namespace

std::unique_ptr<Source> make_directory_source(FileSystem& fs, CacheSet set) {
  return std::make_unique<DirectorySource>(fs, std::move(set));
}

}  // namespace cachetool::store
