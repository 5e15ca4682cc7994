#include "store/walk.h"

#include <string>
#include <utility>
#include <vector>

#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

class Walker {
 public:
  Walker(FileSystem& fs, const CacheSet& set, const WalkOptions& options, ArtifactSink& sink)
      : fs_(fs), set_(set), options_(options), sink_(sink) {}

  Status root(std::uint32_t index) {
    root_ = index;
    path_.clear();
    const bool scoped = index == 0 && !options_.whole_roots && !set_.scope.empty();
    if (scoped) return scope();
    return descend(set_.roots[index].directory);
  }

  bool stopped() const { return stopped_; }

 private:
  struct Level {
    DirHandle directory;
    std::vector<DirEntry> entries;
    std::size_t next = 0;
    std::size_t path_length = 0;  ///< of the directory's own path
  };

  Status scope() {
    auto place = open_parent(fs_, set_.roots[root_].directory, set_.scope);
    if (!place) return tl::unexpected(std::move(place.error()));
    if (set_.scope_is_file) {
      path_ = set_.scope.substr(0, set_.scope.size() - place->name.str().size());
      if (!path_.empty()) path_.pop_back();
      visit(place->directory, DirEntry{place->name, FileType::kUnknown, 0});
      return {};
    }
    auto directory = fs_.open_dir(*place->directory, place->name);
    if (!directory) return tl::unexpected(std::move(directory.error()));
    path_ = set_.scope;
    return descend(std::move(*directory));
  }

  /// Everything below `directory`, whose path is in `path_`. Fails only when it can't be listed itself.
  Status descend(DirHandle directory) {
    auto entries = fs_.list(*directory);
    if (!entries) {
      entries.error().path = full_path(set_, root_, path_);
      return tl::unexpected(std::move(entries.error()));
    }
    levels_.clear();
    levels_.push_back({std::move(directory), std::move(*entries), 0, path_.size()});
    while (!levels_.empty() && !stopped_) {
      Level& level = levels_.back();
      path_.resize(level.path_length);
      if (level.next == level.entries.size()) {
        levels_.pop_back();
        continue;
      }
      // `visit` may add a level, so the current one must not be referred to afterwards.
      const DirHandle here = level.directory;
      const DirEntry entry = std::move(level.entries[level.next++]);
      visit(here, entry);
    }
    return {};
  }

  void visit(const DirHandle& directory, const DirEntry& entry) {
    const bool at_top = path_.empty();
    if (!at_top) path_ += '/';
    path_ += entry.name.str();
    if (at_top && entry.name.str() == ".cachetool" && !options_.own_state) return;

    std::optional<FileStat> stat;
    FileType type = entry.type;
    if (type == FileType::kUnknown || (type == FileType::kRegular && options_.with_stat)) {
      auto found = fs_.stat(*directory, entry.name);
      if (!found) return skip(type, std::move(found.error()));
      type = found->type;
      stat = *found;
    }
    if (type == FileType::kDirectory) return enter(directory, entry.name);
    if (type != FileType::kRegular) {
      return skip(
          type,
          Error{ErrorCode::kNotRegular, std::string(file_type_name(type)) + ", not followed", path_, {}, {}});
    }
    emit(directory, entry.name, stat);
  }

  void enter(const DirHandle& parent, const Name& name) {
    if (levels_.size() >= options_.max_depth) {
      return skip(FileType::kDirectory,
                  Error{ErrorCode::kLimitDepth, "directories nested too deep", path_, {}, {}});
    }
    auto directory = fs_.open_dir(*parent, name);
    if (!directory) return skip(FileType::kDirectory, std::move(directory.error()));
    auto entries = fs_.list(**directory);
    if (!entries) return skip(FileType::kDirectory, std::move(entries.error()));
    levels_.push_back({std::move(*directory), std::move(*entries), 0, path_.size()});
  }

  void emit(const DirHandle& directory, const Name& name, const std::optional<FileStat>& stat) {
    const Root& root = set_.roots[root_];
    Classified found = classify(root.role, path_);
    if (root.role == RootRole::kSingleFile) found.kind = set_.single_file_kind;
    Artifact artifact;
    artifact.kind = found.kind;
    artifact.root = root_;
    artifact.path = path_;
    artifact.directory = &directory;
    artifact.name = &name;
    artifact.hash = found.hash;
    artifact.stat = stat;
    if (!sink_.artifact(artifact)) stopped_ = true;
  }

  void skip(FileType type, Error error) {
    // What was listed and is gone has vanished: another process works in this cache.
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kVanished;
    error.path = path_;
    sink_.skipped(Skipped{root_, path_, type, std::move(error)});
  }

  FileSystem& fs_;
  const CacheSet& set_;
  const WalkOptions& options_;
  ArtifactSink& sink_;
  std::uint32_t root_ = 0;
  std::string path_;
  std::vector<Level> levels_;
  bool stopped_ = false;
};

}  // namespace

Status walk_cache(FileSystem& fs, const CacheSet& set, const WalkOptions& options, ArtifactSink& sink) {
  Walker walker(fs, set, options, sink);
  for (std::uint32_t i = 0; i < set.roots.size() && !walker.stopped(); ++i) {
    if (set.roots[i].companion && !options.companions) continue;
    if (i > 0 && !set.scope.empty() && !options.whole_roots) continue;
    if (auto status = walker.root(i); !status) return status;
  }
  return {};
}

}  // namespace cachetool::store
