#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/source.h"

namespace cachetool::verify {

using FileId = std::uint32_t;
using DirectoryId = std::uint32_t;

/// Every file of a cache, as one walk found it. About 250 bytes a file; nothing is open.
class Inventory final : private store::ArtifactSink {
 public:
  struct Directory {
    std::uint32_t root = 0;
    std::string path;  ///< below the root; empty for the root itself
    FileId first = 0;  ///< its files are [first, last): directories of it come apart
    FileId last = 0;
  };
  struct File {
    DirectoryId directory = 0;
    store::ArtifactKind kind = store::ArtifactKind::kUnknown;
    bool in_scope = true;  ///< what the user asked about; the rest is read only where relations need it
    std::string name;
    std::optional<torch::HashName> hash;  ///< stem or leaf, where it is a name made from a hash
    FileStat stat;
  };

  /// Walks all of the cache (whatever its scope; of a single file's place only the file). Fails only when a
  /// root can't be listed.
  static Expected<Inventory> make(store::Source& source);

  const store::CacheSet& cache() const { return *cache_; }
  std::span<const Directory> directories() const { return directories_; }
  std::span<const File> files() const { return files_; }
  const File& file(FileId id) const { return files_[id]; }
  const Directory& directory(DirectoryId id) const { return directories_[id]; }
  const Directory& directory_of(FileId id) const { return directories_[files_[id].directory]; }
  std::uint32_t root_of(FileId id) const { return directory_of(id).root; }
  /// Below its root.
  std::string path(FileId id) const;
  std::optional<FileId> find(std::uint32_t root, std::string_view path) const;
  std::optional<DirectoryId> find_directory(std::uint32_t root, std::string_view path) const;
  /// Places that couldn't be looked into.
  const std::vector<store::Skipped>& skipped() const { return skipped_; }

  void set_scope(FileId id, bool in_scope) { files_[id].in_scope = in_scope; }

 private:
  bool artifact(const store::Artifact& artifact) override;
  void skipped(const store::Skipped& skipped) override { skipped_.push_back(skipped); }
  void finish();

  const store::CacheSet* cache_ = nullptr;
  std::vector<Directory> directories_;
  std::vector<File> files_;
  std::vector<store::Skipped> skipped_;
  std::unordered_map<std::string, DirectoryId> by_path_;  ///< "root/path" → directory
};

}  // namespace cachetool::verify
