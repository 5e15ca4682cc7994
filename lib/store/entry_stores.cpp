#include "store/entry_stores.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

// vLLM's deepest: torch_compile_cache/torch_aot_compile/<hash>/rank_0_0/inductor_cache, with a level to
// spare.
constexpr std::size_t kMaxVllmDepth = 8;

/// Remembers that nobody could look into `path`. One that vanished since it was listed holds nothing.
void add_unsearched(CacheSet& set, std::uint32_t root, const std::string& path, Error error) {
  if (error.code == ErrorCode::kNotFound) return;
  error.path = path;
  set.unsearched.push_back({root, path, FileType::kDirectory, std::move(error)});
}

bool holds_entries(ArtifactKind kind) {
  return is_entry(kind) || kind == ArtifactKind::kMegaCache || kind == ArtifactKind::kStandaloneArtifact;
}

/// The store at `path` and the fresh cache directories in it.
void add_inductor_stores(FileSystem& fs, CacheSet& set, std::uint32_t root, const DirHandle& directory,
                         const std::string& path) {
  set.stores.push_back({root, path});
  auto entries = fs.list(*directory);
  if (!entries) return add_unsearched(set, root, path, std::move(entries.error()));
  for (const DirEntry& entry : *entries) {
    if (!may_be_directory(entry) || !is_fresh_cache_name(entry.name.str())) continue;
    set.stores.push_back({root, join_path(path, entry.name.str())});
  }
}

void add_vllm_stores(FileSystem& fs, CacheSet& set, std::uint32_t root) {
  struct Level {
    DirHandle directory;
    std::string path;
    std::size_t depth;
  };
  std::vector<Level> pending{{set.roots[root].directory, "", 0}};
  while (!pending.empty()) {
    const Level level = std::move(pending.back());
    pending.pop_back();
    auto entries = fs.list(*level.directory);
    if (!entries) {
      add_unsearched(set, root, level.path, std::move(entries.error()));
      continue;
    }
    for (const DirEntry& entry : *entries) {
      const std::string& name = entry.name.str();
      const std::string path = join_path(level.path, name);
      if (entry.type == FileType::kRegular && is_vllm_artifact_name(name)) {
        set.stores.push_back({root, path, ArtifactKind::kStandaloneArtifact});
        continue;
      }
      if (!may_be_directory(entry) || name == "triton_cache" || level.depth >= kMaxVllmDepth) continue;
      if (classify(RootRole::kVllm, join_path(path, "x")).kind == ArtifactKind::kVllmOther) continue;
      auto directory = fs.open_dir(*level.directory, entry.name);
      if (!directory) {
        // Of an entry whose type the file system didn't tell, and that is no directory, nothing is missed.
        if (directory.error().code != ErrorCode::kNotRegular)
          add_unsearched(set, root, path, std::move(directory.error()));
        continue;
      }
      if (name == "inductor_cache" || is_vllm_artifact_name(name)) {
        add_inductor_stores(fs, set, root, *directory, path);
      } else {
        pending.push_back({std::move(*directory), path, level.depth + 1});
      }
    }
  }
}

}  // namespace

void find_entry_stores(FileSystem& fs, CacheSet& set) {
  for (std::uint32_t i = 0; i < set.roots.size(); ++i) {
    const Root& root = set.roots[i];
    if (root.companion) continue;
    if (root.role == RootRole::kInductor) add_inductor_stores(fs, set, i, root.directory, "");
    if (root.role == RootRole::kVllm) add_vllm_stores(fs, set, i);
    if (root.role == RootRole::kSingleFile && holds_entries(set.single_file_kind)) {
      set.stores.push_back({i, set.scope, set.single_file_kind});
    }
  }
  std::sort(set.stores.begin(), set.stores.end(), [](const EntryStore& a, const EntryStore& b) {
    return std::tie(a.root, a.path) < std::tie(b.root, b.path);
  });
}

}  // namespace cachetool::store
