#include <utility>

#include "store/paths.h"
#include "verify/scan/scan_tree.h"

namespace cachetool::verify {
namespace {

using store::ArtifactKind;
using store::RootRole;

constexpr int kMaxLinks = 40;

struct Split {
  std::string directory;
  std::string name;
};

Split split(const std::string& path) {
  const std::string_view directory = store::directory_of(path);
  return {directory.empty() ? std::string("/") : std::string(directory), std::string(store::name_of(path))};
}

/// The path that a chain of links in the last place leads to.
Expected<std::string> follow(FileSystem& fs, const store::Environment& environment, std::string path) {
  for (int links = 0; links < kMaxLinks; ++links) {
    const Split parts = split(path);
    const auto name = Name::parse(parts.name);
    if (!name) return path;  // the top directory
    auto directory = fs.open_root(parts.directory);
    if (!directory) return path;
    const auto stat = fs.stat(**directory, *name);
    if (!stat || stat->type != FileType::kSymlink) return path;
    const auto target = fs.read_link(**directory, *name);
    if (!target) return tl::unexpected(target.error());
    store::Environment there = environment;
    there.working_directory = parts.directory;
    path = store::absolute_path(there, *target);
  }
  return fail(ErrorCode::kNotRegular, "too many symbolic links", path);
}

ScanTarget plain_target(DirHandle directory, std::string path, std::string file) {
  ScanTarget target;
  target.is_cache = false;
  target.set.roots.push_back({.role = RootRole::kSingleFile,
                              .path = std::move(path),
                              .directory = std::move(directory),
                              .companion = false});
  target.set.scope_is_file = !file.empty();
  target.set.scope = std::move(file);
  return target;
}

Expected<ScanTarget> plain_file(FileSystem& fs, const std::string& path) {
  Split parts = split(path);
  auto directory = fs.open_root(parts.directory);
  if (!directory) return tl::unexpected(std::move(directory.error()));
  auto name = Name::parse(parts.name);
  if (!name) return tl::unexpected(std::move(name.error()));
  auto file = fs.open_file(**directory, *name);
  if (!file) {
    file.error().path = path;
    return tl::unexpected(std::move(file.error()));
  }
  return plain_target(std::move(*directory), std::move(parts.directory), std::move(parts.name));
}

}  // namespace

Expected<ScanTarget> resolve_scan_target(FileSystem& fs, const store::Environment& environment,
                                         std::optional<std::string_view> path) {
  std::string real;
  if (path && !path->empty()) {
    auto followed = follow(fs, environment, store::absolute_path(environment, *path));
    if (!followed) return tl::unexpected(std::move(followed.error()));
    real = std::move(*followed);
    path = real;
  }
  auto set = store::resolve_cache(fs, environment, path);
  if (set) {
    // Outside caches one file is told by its content alone.
    const bool is_cache = set->roots[0].role != RootRole::kSingleFile;
    if (!is_cache) set->single_file_kind = ArtifactKind::kUnknown;
    return ScanTarget{std::move(*set), is_cache};
  }
  if (set.error().code != ErrorCode::kNotACache || real.empty())
    return tl::unexpected(std::move(set.error()));
  auto directory = fs.open_root(real);
  if (!directory) return plain_file(fs, real);
  return plain_target(std::move(*directory), real, {});
}

}  // namespace cachetool::verify
