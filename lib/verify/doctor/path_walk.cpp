#include "verify/doctor/path_walk.h"

#include <algorithm>
#include <utility>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

constexpr int kMaxLinks = 40;
constexpr std::size_t kMaxComponents = 4096;

std::string child_of(const std::string& directory, std::string_view name) {
  return directory == "/" ? "/" + std::string(name) : store::join_path(directory, name);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// Puts the components of `path` in front of those that are still to be looked up (the next one is last).
void push_components(std::vector<std::string>& pending, std::string_view path) {
  const auto parts = store::split_path(path);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) pending.emplace_back(*part);
}

class Walker {
 public:
  Walker(FileSystem& fs, PathWalk& walk) : fs_(fs), walk_(walk) {}

  void run(const std::string& path) {
    push_components(pending_, path);
    if (!enter("/")) return;
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (name == ".") continue;
      if (name == ".." ? !enter(parent_of(walk_.existing)) : !step(name)) return;
    }
    walk_.exists = true;
  }

 private:
  bool stop(Error error, std::string path) {
    error.path = std::move(path);
    walk_.error = std::move(error);
    return false;
  }

  /// Opens a directory by its path without links, so that mount points are crossed. `seen` is its status
  /// where its parent could be asked: with it, a directory that may be passed but not read stops nothing.
  bool enter(const std::string& path, const FileStat* seen = nullptr) {
    auto directory = fs_.open_root(path);
    if (!directory && (seen == nullptr || directory.error().code != ErrorCode::kPermission)) {
      note_rest(path);
      return stop(std::move(directory.error()), path);
    }
    const auto stat = directory ? fs_.stat(**directory) : Expected<FileStat>(*seen);
    if (!stat) return stop(stat.error(), path);
    directory_ = directory ? std::move(*directory) : nullptr;
    walk_.existing = walk_.real = path;
    walk_.steps.push_back({path, *stat, {}});
    return true;
  }

  /// The real path of what isn't looked up: `path` and what is still pending.
  void note_rest(std::string path) {
    for (auto name = pending_.rbegin(); name != pending_.rend(); ++name) path = child_of(path, *name);
    walk_.real = std::move(path);
  }

  bool step(const std::string& text) {
    const std::string path = child_of(walk_.existing, text);
    const auto name = Name::parse(text);
    if (!name) return stop(name.error(), path);
    if (directory_ == nullptr) return enter(path);
    const auto stat = fs_.stat(*directory_, *name);
    if (!stat) {
      note_rest(path);
      if (stat.error().code != ErrorCode::kNotFound) return stop(stat.error(), path);
      return false;
    }
    if (stat->type == FileType::kSymlink) return follow(*name, path, *stat);
    if (stat->type == FileType::kDirectory) return enter(path, &*stat);
    note_rest(path);
    walk_.blocked_by = stat->type;
    walk_.is_file = stat->type == FileType::kRegular && pending_.empty();
    return false;
  }

  bool follow(const Name& name, const std::string& path, const FileStat& stat) {
    if (++links_ > kMaxLinks || pending_.size() > kMaxComponents) {
      note_rest(path);
      return stop({ErrorCode::kLimitDepth, "links lead in a circle or too far", {}, {}, {}}, path);
    }
    const auto target = fs_.read_link(*directory_, name);
    if (!target) {
      note_rest(path);
      return stop(target.error(), path);
    }
    walk_.steps.push_back({path, stat, *target});
    push_components(pending_, *target);
    return !target->starts_with('/') || enter("/");
  }

  FileSystem& fs_;
  PathWalk& walk_;
  DirHandle directory_;
  std::vector<std::string> pending_;
  int links_ = 0;
};

}  // namespace

const FileStat* PathWalk::existing_stat() const {
  const auto found = std::find_if(steps.rbegin(), steps.rend(), [&](const PathStep& step) {
    return !step.is_link() && step.path == existing;
  });
  return found == steps.rend() ? nullptr : &found->stat;
}

PathWalk walk_path(FileSystem& fs, const std::string& path) {
  PathWalk walk;
  walk.real = path;
  Walker(fs, walk).run(path);
  return walk;
}

}  // namespace cachetool::verify
