#include "store/cache_set.h"

#include <algorithm>
#include <utility>

#include "store/classify.h"
#include "store/entry_stores.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

// How far above a path its cache is looked for: vLLM's unpacked artifacts are the deepest.
constexpr std::size_t kMaxAscent = 12;
constexpr std::size_t kHeadBytes = 4096;

constexpr std::string_view kLookedFor =
    "a torchinductor directory (fxgraph/, aotautograd/, two-letter directories with c….py), a Triton cache "
    "(directories of 43 or 52 characters) or a vLLM cache (torch_compile_cache/) was looked for";

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? std::string_view("/").substr(0, path.size() > 1 ? 1 : 0) : path.substr(0, slash);
}

Root make_root(RootRole role, std::string path, DirHandle directory) {
  return Root{.role = role, .path = std::move(path), .directory = std::move(directory), .companion = false};
}

/// Whether `path`, a directory below a root of that role, is a place where torch puts something.
bool is_known_place(RootRole role, std::string_view path) {
  constexpr std::string_view kTop[] = {"fxgraph",
                                       "aotautograd",
                                       "locks",
                                       "triton",
                                       "cache",
                                       "dynamo",
                                       "precompiled_headers",
                                       "aoti_eager",
                                       "autoheuristic",
                                       "torch_cutlass",
                                       "cutedsl_compile_cache",
                                       "flydsl_compile_cache",
                                       "quack",
                                       ".cachetool"};
  const auto components = split_path(path);
  const std::string_view top = components[0];
  switch (role) {
    case RootRole::kInductor: {
      if (std::find(std::begin(kTop), std::end(kTop), top) != std::end(kTop)) return true;
      if (is_shard_name(top) || is_fresh_cache_name(top)) return true;
      const auto hash = torch::HashName::parse(top);
      return hash && hash->prefix == 'c';
    }
    case RootRole::kTriton:
      return is_triton_directory_name(top) || top == "cache";
    case RootRole::kVllm:
      return true;
    default:
      return false;
  }
}

/// Whether `path` is `<root>/triton/<device>` of a torchinductor directory, which is where its owners are
/// known.
bool is_device_of_inductor(FileSystem& fs, std::string_view path) {
  const std::string_view above = parent_of(path);
  if (name_of(above) != "triton") return false;
  auto directory = fs.open_root(parent_of(above));
  if (!directory) return false;
  const auto role = recognise_root(fs, **directory);
  return role && *role == RootRole::kInductor;
}

/// The nearest directory above `path` that is a cache in which `path` has a place.
std::optional<CacheSet> find_around(FileSystem& fs, const std::string& path, bool is_file) {
  std::string_view above = parent_of(path);
  for (std::size_t i = 0; i < kMaxAscent && !above.empty(); ++i, above = parent_of(above)) {
    auto directory = fs.open_root(above);
    if (!directory) continue;
    const auto role = recognise_root(fs, **directory);
    if (!role || !*role) continue;
    if (**role == RootRole::kTriton && is_device_of_inductor(fs, above)) continue;
    std::string below = path.substr(above == "/" ? 1 : above.size() + 1);
    const bool placed =
        is_file ? classify(**role, below).kind != ArtifactKind::kUnknown : is_known_place(**role, below);
    if (!placed) continue;
    CacheSet set;
    set.roots.push_back(make_root(**role, std::string(above), std::move(*directory)));
    set.scope = std::move(below);
    set.scope_is_file = is_file;
    return set;
  }
  return std::nullopt;
}

Expected<CacheSet> resolve_file(FileSystem& fs, const std::string& path) {
  if (auto around = find_around(fs, path, true)) return std::move(*around);
  auto directory = fs.open_root(parent_of(path));
  if (!directory) return tl::unexpected(std::move(directory.error()));
  auto name = Name::parse(name_of(path));
  if (!name) return tl::unexpected(std::move(name.error()));
  const auto with_path = [&](Error error) {
    error.path = path;
    return tl::unexpected(std::move(error));
  };
  auto file = fs.open_file(**directory, *name);
  if (!file) return with_path(std::move(file.error()));
  const auto stat = fs.stat(**file);
  if (!stat) return with_path(stat.error());
  std::string head(kHeadBytes, '\0');
  const auto read = fs.read_at(**file, 0, head);
  if (!read) return with_path(read.error());
  head.resize(*read);
  const ArtifactKind kind = classify_content(head, stat->size);
  if (kind == ArtifactKind::kUnknown) {
    return fail(ErrorCode::kNotACache, "neither part of a cache nor a kind of file that torch writes", path,
                {},
                "an entry, a mega-cache, a standalone artifact, a .pt2 package or a kernel was looked for");
  }
  CacheSet set;
  set.roots.push_back(make_root(RootRole::kSingleFile, std::string(parent_of(path)), std::move(*directory)));
  set.scope = name->str();
  set.scope_is_file = true;
  set.single_file_kind = kind;
  return set;
}

Expected<CacheSet> resolve_directory(FileSystem& fs, const std::string& path, DirHandle directory) {
  auto role = recognise_root(fs, *directory);
  if (!role) {
    role.error().path = path;
    return tl::unexpected(std::move(role.error()));
  }
  CacheSet set;
  if (*role) {
    set.roots.push_back(make_root(**role, path, std::move(directory)));
    return set;
  }
  if (auto around = find_around(fs, path, false)) return std::move(*around);
  auto entries = fs.list(*directory);
  if (entries && entries->empty()) {
    set.roots.push_back(make_root(RootRole::kInductor, path, std::move(directory)));
    return set;
  }
  return fail(ErrorCode::kNotACache, "no cache of torch.compile, Triton or vLLM in this directory", path, {},
              std::string(kLookedFor));
}

/// A Triton cache that lies in an Inductor or vLLM cache is a part of that one.
CacheSet widen(FileSystem& fs, CacheSet set) {
  if (set.roots[0].role != RootRole::kTriton) return set;
  auto around = find_around(fs, set.roots[0].path, false);
  if (!around || around->roots[0].role == RootRole::kTriton) return set;
  around->scope = join_path(around->scope, set.scope);
  around->scope_is_file = set.scope_is_file;
  return std::move(*around);
}

Expected<CacheSet> resolve_path(FileSystem& fs, const std::string& path) {
  const auto widened = [&](CacheSet set) { return widen(fs, std::move(set)); };
  auto directory = fs.open_root(path);
  if (directory) return resolve_directory(fs, path, std::move(*directory)).map(widened);
  if (directory.error().code == ErrorCode::kNotRegular) return resolve_file(fs, path).map(widened);
  directory.error().path = path;
  return tl::unexpected(std::move(directory.error()));
}

/// Adds what torch keeps elsewhere although it belongs to the cache (torch/_inductor/codecache.py:
/// _HEADER_DIR, 2.9; _inductor/ cache.py, 2.15).
void add_companions(FileSystem& fs, const Environment& environment, CacheSet& set) {
  if (set.roots[0].role != RootRole::kInductor || !set.scope.empty()) return;
  const std::string fallback = default_inductor_root(fs, environment);
  const auto root = fs.open_root(fallback);
  if (!root) return;
  const auto here = fs.stat(*set.roots[0].directory);
  const auto there = fs.stat(**root);
  if (!here || !there || (here->device == there->device && here->inode == there->inode)) return;
  constexpr std::pair<std::string_view, RootRole> kTrees[] = {
      {"precompiled_headers", RootRole::kPrecompiledHeaders}, {"cache", RootRole::kBenchmarkCache}};
  for (const auto& [name, role] : kTrees) {
    auto directory = fs.open_dir(**root, *Name::parse(name));
    if (!directory) continue;
    set.roots.push_back(make_root(role, join_path(fallback, name), std::move(*directory)));
    set.roots.back().companion = true;
  }
}

void add_triton_root(FileSystem& fs, const Environment& environment, CacheSet& set) {
  const auto value = environment.get("TRITON_CACHE_DIR");
  if (!value || value->empty()) return;
  std::string path = absolute_path(environment, *value);
  set.triton_directory = path;
  if (is_within(set.roots[0].path, path)) return;
  auto directory = fs.open_root(path);
  if (!directory) return;
  // A variable that names something else by mistake (a home, a disk) must not make that a part of the cache.
  const auto role = recognise_root(fs, **directory);
  if (!role || *role != RootRole::kTriton) return;
  set.roots.push_back(make_root(RootRole::kTriton, std::move(path), std::move(*directory)));
}

}  // namespace

std::string_view role_name(RootRole role) {
  switch (role) {
    case RootRole::kInductor:
      return "inductor";
    case RootRole::kTriton:
      return "triton";
    case RootRole::kVllm:
      return "vllm";
    case RootRole::kPrecompiledHeaders:
      return "precompiled-headers";
    case RootRole::kBenchmarkCache:
      return "benchmark-cache";
    case RootRole::kSingleFile:
      return "file";
  }
  return "unknown";
}

Expected<CacheSet> resolve_cache(FileSystem& fs, const Environment& environment,
                                 std::optional<std::string_view> path) {
  CacheOrigin origin = CacheOrigin::kArgument;
  std::string target;
  if (path) {
    if (path->empty()) return fail(ErrorCode::kNotFound, "an empty path names no directory");
    target = absolute_path(environment, *path);
  } else if (const auto value = environment.get("TORCHINDUCTOR_CACHE_DIR")) {
    origin = CacheOrigin::kEnvironment;
    target = absolute_path(environment, *value);
  } else {
    origin = CacheOrigin::kDefault;
    target = default_inductor_root(fs, environment);
  }
  auto set = resolve_path(fs, target);
  if (!set) {
    if (origin == CacheOrigin::kEnvironment) set.error().message += " (from TORCHINDUCTOR_CACHE_DIR)";
    if (origin == CacheOrigin::kDefault) set.error().message += " (torch's default for this user)";
    return set;
  }
  set->origin = origin;
  if (origin != CacheOrigin::kArgument) add_triton_root(fs, environment, *set);
  add_companions(fs, environment, *set);
  find_entry_stores(fs, *set);
  return set;
}

std::string full_path(const CacheSet& set, std::uint32_t root, std::string_view path) {
  return join_path(set.roots[root].path, path);
}

std::optional<Location> locate(const CacheSet& set, const Environment& environment, std::string_view path) {
  const std::string absolute = absolute_path(environment, path);
  for (std::uint32_t i = 0; i < set.roots.size(); ++i) {
    const std::string& root = set.roots[i].path;
    if (!is_within(root, absolute)) continue;
    const std::string_view below =
        std::string_view(absolute).substr(std::min(absolute.size(), root.size() + (root == "/" ? 0 : 1)));
    return Location{i, std::string(below)};
  }
  return std::nullopt;
}

}  // namespace cachetool::store
