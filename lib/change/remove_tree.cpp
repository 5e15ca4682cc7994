#include "change/remove_tree.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace cachetool::change {
namespace {

constexpr std::size_t kDeepest = 64;

struct Level {
  DirHandle dir;
  std::vector<DirEntry> entries;
  std::size_t next = 0;
  const Directory* above;
  Name name;
};

Status gone_is_fine(Status status) {
  if (!status && status.error().code == ErrorCode::kNotFound) return {};
  return status;
}

/// Adds the level of a directory; adds nothing when it is gone.
Status descend(FileSystem& fs, std::vector<Level>& levels, const Directory& dir, const Name& name) {
  if (levels.size() > kDeepest) {
    return fail(ErrorCode::kLimitDepth, fmt::format("is nested deeper than {} levels", kDeepest), name.str());
  }
  auto opened = fs.open_dir(dir, name);
  if (!opened) return gone_is_fine(tl::unexpected(std::move(opened.error())));
  auto entries = fs.list(**opened);
  if (!entries) return tl::unexpected(std::move(entries.error()));
  levels.push_back({std::move(*opened), std::move(*entries), 0, &dir, name});
  return {};
}

}  // namespace

Status remove_tree(FileSystem& fs, const Directory& dir, const Name& name, Files files) {
  auto top = fs.stat(dir, name);
  if (!top) return gone_is_fine(tl::unexpected(std::move(top.error())));
  const auto remove_file = [&](const Directory& from, const Name& file) -> Status {
    if (files == Files::kRefuse) return fail(ErrorCode::kExists, "is no directory", file.str());
    return gone_is_fine(fs.unlink(from, file));
  };
  if (top->type != FileType::kDirectory) return remove_file(dir, name);

  std::vector<Level> levels;
  if (auto entered = descend(fs, levels, dir, name); !entered) return entered;
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.entries.size()) {
      const Directory* above = level.above;
      const Name own = level.name;
      levels.pop_back();
      if (auto removed = gone_is_fine(fs.remove_dir(*above, own)); !removed) return removed;
      continue;
    }
    const Name child = level.entries[level.next++].name;
    const DirHandle here = level.dir;
    auto stat = fs.stat(*here, child);
    if (!stat) {
      if (auto gone = gone_is_fine(tl::unexpected(std::move(stat.error()))); !gone) return gone;
      continue;
    }
    const Status done =
        stat->type == FileType::kDirectory ? descend(fs, levels, *here, child) : remove_file(*here, child);
    if (!done) return done;
  }
  return {};
}

}  // namespace cachetool::change
