#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "store/classify.h"
#include "store/lookup.h"
#include "store/packed_file.h"
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

struct PackedFile {
  std::vector<PackedEntry> entries;
  std::optional<Error> error;
};

// A packing file is read whole once, for its checksum and the hashes of its members.
constexpr std::uint64_t kMaxPackedBytes = std::uint64_t{2} << 30;

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
    for (const Skipped& place : set_.unsearched) {
      if (touches_scope(place.root, place.path)) skipped.push_back(place);
    }
    for (std::size_t i = 0; i < set_.stores.size(); ++i) {
      const auto store = static_cast<std::uint16_t>(i);
      if (set_.stores[i].is_file()) {
        add_packed_keys(store, found, skipped);
        continue;
      }
      add_sharded_keys(store, found, skipped);
      add_flat_keys(store, EntryKind::kAotAutograd, {}, found, skipped);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());  // a mega-cache may name a key twice
    return found;
  }

  Expected<KeyListing> open_key(const KeyRef& key) override {
    if (set_.stores[key.store].is_file()) return open_packed_key(key);
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
    listing.directory = *directory;
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
    if (entry.length > 0) return read_packed(entry, max_bytes, buffer);
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

  Expected<bool> is_empty_directory(std::uint32_t root, std::string_view path) override {
    const auto directory = open_below(fs_, set_.roots[root].directory, path);
    if (!directory) return tl::unexpected(directory.error());
    auto entries = fs_.list(**directory);
    if (!entries) {
      entries.error().path = std::string(path);
      return tl::unexpected(std::move(entries.error()));
    }
    return entries->empty();
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

  void add_packed_keys(std::uint16_t store, std::vector<KeyRef>& found, std::vector<Skipped>& skipped) {
    const EntryStore& file = set_.stores[store];
    if (!touches_scope(file.root, file.path)) return;
    const PackedFile& packed = packed_file(store);
    if (packed.error) skipped.push_back({file.root, file.path, FileType::kRegular, *packed.error});
    for (const PackedEntry& entry : packed.entries) found.push_back({entry.key, entry.kind, store});
  }

  Expected<KeyListing> open_packed_key(const KeyRef& key) {
    const EntryStore& file = set_.stores[key.store];
    const PackedFile& packed = packed_file(key.store);
    if (packed.error) return tl::unexpected(*packed.error);
    auto place = open_parent(fs_, set_.roots[file.root].directory, file.path);
    if (!place) return tl::unexpected(std::move(place.error()));
    KeyListing listing;
    for (const PackedEntry& entry : packed.entries) {
      if (entry.key != key.key || entry.kind != key.kind) continue;
      listing.entries.push_back({key, entry.leaf.str(), place->directory, entry.offset, entry.length});
    }
    if (listing.entries.empty()) return fail(ErrorCode::kNoSuchKey, "no entry of that key", file.path);
    return listing;
  }

  Expected<FileStat> read_packed(const EntryRef& entry, std::uint64_t max_bytes, std::string& buffer) {
    const std::string path = entry_path(set_, entry);
    const auto with_path = [&](Error error) {
      error.path = path;
      return tl::unexpected(std::move(error));
    };
    if (entry.length > max_bytes) return fail(ErrorCode::kLimitSize, "entry larger than the limit", path);
    const auto components = split_path(set_.stores[entry.key.store].path);
    auto file = fs_.open_file(*entry.directory, *Name::parse(components.back()));
    if (!file) return with_path(std::move(file.error()));
    auto stat = fs_.stat(**file);
    if (!stat) return with_path(std::move(stat.error()));
    // The file may have been replaced since it was read; never allocate for bytes that aren't there.
    if (entry.offset + entry.length > stat->size)
      return fail(ErrorCode::kTruncated, "the file became shorter", path);
    buffer.resize(static_cast<std::size_t>(entry.length));
    std::size_t done = 0;
    while (done < buffer.size()) {
      const auto got = fs_.read_at(**file, entry.offset + done, std::span(buffer).subspan(done));
      if (!got) return with_path(got.error());
      if (*got == 0) return fail(ErrorCode::kTruncated, "the file became shorter", path);
      done += *got;
    }
    stat->size = entry.length;
    return stat;
  }

  /// What a packing file holds; read once. References stay valid: the table has one place per store.
  const PackedFile& packed_file(std::uint16_t store) {
    const EntryStore& file = set_.stores[store];
    const std::scoped_lock lock(packed_mutex_);
    const auto [found, added] = packed_.try_emplace(store);
    if (!added) return found->second;
    std::string bytes;
    auto read = read_file(file.root, file.path, kMaxPackedBytes, bytes);
    auto entries = read ? packed_entries(bytes, file.file_kind)
                        : Expected<std::vector<PackedEntry>>(tl::unexpected(std::move(read.error())));
    if (entries) {
      found->second.entries = std::move(*entries);
    } else {
      found->second.error = std::move(entries.error());
      found->second.error->path = file.path;
    }
    return found->second;
  }

  FileSystem& fs_;
  CacheSet set_;
  KeyParents parents_;
  std::mutex packed_mutex_;
  std::map<std::uint16_t, PackedFile> packed_;
  std::unique_ptr<DirectorySource> whole_;
};

}  // namespace

std::unique_ptr<Source> make_directory_source(FileSystem& fs, CacheSet set) {
  return std::make_unique<DirectorySource>(fs, std::move(set));
}

}  // namespace cachetool::store
