#include "verify/doctor/other_caches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "store/paths.h"
#include "verify/doctor/path_walk.h"

namespace cachetool::verify {
namespace {

constexpr std::size_t kMaxDepth = 128;

/// A directory whose entries are being gone through.
struct Level {
  DirHandle directory;
  std::vector<DirEntry> entries;
  std::size_t next = 0;
};

class Measurer {
 public:
  Measurer(FileSystem& fs, TreeSize& size, const TreeProgress& progress)
      : fs_(fs), size_(size), progress_(progress) {}

  void run(const std::string& path) {
    auto directory = fs_.open_root(path);
    if (!directory) return fail();
    enter(std::move(*directory));
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next == level.entries.size()) {
        levels_.pop_back();
      } else {
        visit(level, level.entries[level.next++]);
      }
    }
  }

 private:
  void fail() { size_.complete = false; }

  void enter(DirHandle directory) {
    auto entries = fs_.list(*directory);
    if (!entries || levels_.size() >= kMaxDepth) return fail();
    levels_.push_back({std::move(directory), std::move(*entries), 0});
  }

  void visit(Level& level, const DirEntry& entry) {
    const auto stat = fs_.stat(*level.directory, entry.name);
    if (!stat) return;  // vanished: caches are live
    if (stat->type == FileType::kDirectory) {
      auto directory = fs_.open_dir(*level.directory, entry.name);
      if (directory) return enter(std::move(*directory));
      if (directory.error().code != ErrorCode::kVanished && directory.error().code != ErrorCode::kNotFound)
        fail();
    } else if (stat->type == FileType::kRegular) {
      if (stat->links > 1 && !linked_.emplace(stat->device, stat->inode).second) return;
      ++size_.files;
      size_.bytes += stat->size;
      if (progress_) progress_(size_.files);
    }
  }

  FileSystem& fs_;
  TreeSize& size_;
  const TreeProgress& progress_;
  std::vector<Level> levels_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_;
};

class Finder {
 public:
  Finder(FileSystem& fs, const store::Environment& environment, const std::string& cache)
      : fs_(fs), environment_(environment), cache_(walk_path(fs, cache).real) {}

  void add(std::string kind, std::string_view path, std::string why) {
    if (path.empty()) return;
    PathWalk walk = walk_path(fs_, store::absolute_path(environment_, path));
    if (!walk.exists || store::is_within(cache_, walk.real)) return;
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const OtherCache& other) { return other.path == walk.real; });
    if (!known) found.push_back({std::move(kind), std::move(walk.real), std::move(why), {}});
  }

  /// The directory that the variable names, else `fallback`.
  void add_variable(std::string kind, std::string_view variable, std::string_view below,
                    const std::string& fallback) {
    const std::string_view value = environment_.get(variable).value_or("");
    if (!value.empty()) return add(std::move(kind), store::join_path(value, below), std::string(variable));
    add(std::move(kind), fallback, "default");
  }

  /// Directories `torchinductor_*` of this user.
  void add_inductor_roots(const std::string& temporary) {
    const auto directory = fs_.open_root(temporary);
    if (!directory) return;
    const auto entries = fs_.list(**directory);
    if (!entries) return;
    for (const DirEntry& entry : *entries) {
      if (!entry.name.str().starts_with("torchinductor_")) continue;
      const auto stat = fs_.stat(**directory, entry.name);
      if (stat && stat->type == FileType::kDirectory && stat->uid == environment_.uid)
        add("inductor", store::join_path(temporary, entry.name.str()), "in " + temporary);
    }
  }

  std::vector<OtherCache> found;

 private:
  FileSystem& fs_;
  const store::Environment& environment_;
  std::string cache_;
};

}  // namespace

TreeSize measure_tree(FileSystem& fs, const std::string& path, const TreeProgress& progress) {
  TreeSize size;
  Measurer(fs, size, progress).run(path);
  return size;
}

std::vector<OtherCache> find_other_caches(FileSystem& fs, const store::Environment& environment,
                                          const std::string& cache, Sizes sizes,
                                          const TreeProgress& progress) {
  Finder finder(fs, environment, cache);
  const std::string home = environment.home().value_or("");
  const auto in_home = [&](std::string_view path) {
    return home.empty() ? std::string() : store::join_path(home, path);
  };
  const std::string_view xdg = environment.get("XDG_CACHE_HOME").value_or("");
  const std::string cache_home = xdg.empty() ? in_home(".cache") : std::string(xdg);
  const auto in_cache_home = [&](std::string_view path) {
    return cache_home.empty() ? std::string() : store::join_path(cache_home, path);
  };
  finder.add("inductor", environment.get("TORCHINDUCTOR_CACHE_DIR").value_or(""), "TORCHINDUCTOR_CACHE_DIR");
  finder.add("inductor", store::default_inductor_root(fs, environment), "default");
  std::set<std::string> temporary{store::temporary_directory(fs, environment), "/tmp", "/var/tmp",
                                  "/dev/shm"};
  for (const std::string& path : temporary) finder.add_inductor_roots(path);
  finder.add("triton", environment.get("TRITON_CACHE_DIR").value_or(""), "TRITON_CACHE_DIR");
  finder.add_variable("triton", "TRITON_HOME", ".triton/cache", in_home(".triton/cache"));
  finder.add_variable("vllm", "VLLM_CACHE_ROOT", "", in_cache_home("vllm"));
  finder.add_variable("extensions", "TORCH_EXTENSIONS_DIR", "", in_cache_home("torch_extensions"));
  finder.add_variable("torch-hub", "TORCH_HOME", "", in_cache_home("torch"));
  finder.add_variable("cuda", "CUDA_CACHE_PATH", "", in_home(".nv/ComputeCache"));
  if (sizes == Sizes::kMeasure)
    for (OtherCache& other : finder.found) other.size = measure_tree(fs, other.path, progress);
  return std::move(finder.found);
}

}  // namespace cachetool::verify
