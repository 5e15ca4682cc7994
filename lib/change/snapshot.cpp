#include "change/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "store/paths.h"

namespace cachetool::change {
namespace {

constexpr std::size_t kDeepest = 64;

/// Adds a file to an amount, hard links once.
class Counter {
 public:
  explicit Counter(Amount& amount) : amount_(amount) {}
  void add(const FileStat& stat) {
    if (stat.type != FileType::kRegular) return;
    if (stat.links > 1 && !linked_.emplace(stat.device, stat.inode).second) return;
    amount_ += Amount{stat.size, stat.allocated_bytes, 1};
  }

 private:
  Amount& amount_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> linked_;
};

/// A directory on the way down: what is left to look at in it.
struct Level {
  DirHandle dir;
  std::vector<DirEntry> entries;
  std::size_t next = 0;
  std::string path;  // below the top
};

tl::unexpected<Error> failed_below(Error error, const Name& top, const std::string& path) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kVanished;
  error.path = store::join_path(top.str(), path);
  return tl::unexpected(std::move(error));
}

Expected<Level> open_level(FileSystem& fs, const Directory& dir, const Name& name, std::string path) {
  auto opened = fs.open_dir(dir, name);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  auto entries = fs.list(**opened);
  if (!entries) return tl::unexpected(std::move(entries.error()));
  return Level{std::move(*opened), std::move(*entries), 0, std::move(path)};
}

}  // namespace

Identity identity_of(const FileStat& stat) {
  if (stat.type == FileType::kDirectory) return {stat.type, stat.device, stat.inode, 0, 0};
  return {stat.type, stat.device, stat.inode, stat.size, stat.mtime_ns};
}

Amount& Amount::operator+=(const Amount& other) {
  bytes += other.bytes;
  allocated_bytes += other.allocated_bytes;
  files += other.files;
  return *this;
}

Expected<Snapshot> take_snapshot(FileSystem& fs, const Directory& dir, const Name& name) {
  auto stat = fs.stat(dir, name);
  if (!stat) return tl::unexpected(std::move(stat.error()));
  Snapshot snapshot{identity_of(*stat), {}, {}};
  Counter counter(snapshot.amount);
  counter.add(*stat);
  if (stat->type != FileType::kDirectory) return snapshot;

  std::vector<Level> levels;
  auto top = open_level(fs, dir, name, {});
  if (!top) return failed_below(std::move(top.error()), name, {});
  levels.push_back(std::move(*top));
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.entries.size()) {
      levels.pop_back();
      continue;
    }
    const Name& child = level.entries[level.next++].name;
    std::string path = store::join_path(level.path, child.str());
    auto found = fs.stat(*level.dir, child);
    if (!found) return failed_below(std::move(found.error()), name, path);
    counter.add(*found);
    snapshot.members.push_back({path, identity_of(*found)});
    if (found->type != FileType::kDirectory) continue;
    if (levels.size() == kDeepest) {
      return failed_below(
          {ErrorCode::kLimitDepth, fmt::format("is nested deeper than {} levels", kDeepest), {}, {}, {}},
          name, path);
    }
    auto below = open_level(fs, *level.dir, child, path);
    if (!below) return failed_below(std::move(below.error()), name, path);
    levels.push_back(std::move(*below));
  }
  return snapshot;
}

std::optional<std::string> difference(const Identity& expected, const Identity& found) {
  if (expected.type != found.type) {
    return fmt::format("it is a {}, not a {}", file_type_name(found.type), file_type_name(expected.type));
  }
  if (expected.device != found.device || expected.inode != found.inode) return "another file has its name";
  if (expected.size != found.size) {
    return fmt::format("its size is {}, not {}", found.size, expected.size);
  }
  if (expected.mtime_ns != found.mtime_ns) return "it was written to";
  return std::nullopt;
}

std::optional<std::string> difference(const Snapshot& expected, const Snapshot& found) {
  if (auto own = difference(expected.identity, found.identity)) return own;
  const auto [old_member, new_member] = std::mismatch(expected.members.begin(), expected.members.end(),
                                                      found.members.begin(), found.members.end());
  if (old_member == expected.members.end() && new_member == found.members.end()) return std::nullopt;
  if (old_member == expected.members.end()) {
    return fmt::format("it holds {} now", escape_for_terminal(new_member->path));
  }
  if (new_member == found.members.end()) {
    return fmt::format("it lacks {} now", escape_for_terminal(old_member->path));
  }
  if (old_member->path == new_member->path) {
    return fmt::format("{} in it changed", escape_for_terminal(old_member->path));
  }
  return fmt::format("{} in it is not as before",
                     escape_for_terminal(std::min(old_member->path, new_member->path)));
}

}  // namespace cachetool::change
