#include <algorithm>
#include <string>
#include <vector>

#include "store/cache_set.h"
#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

using Listing = std::vector<DirEntry>;

// How many directories of one level are looked into before giving up on them.
constexpr std::size_t kMaxProbes = 64;

Listing list_below(FileSystem& fs, const Directory& parent, const Name& name) {
  const auto directory = fs.open_dir(parent, name);
  if (!directory) return {};
  return fs.list(**directory).value_or(Listing{});
}

/// True when a directory named `prefix`/… holds something that is classified as part of a root of that role.
bool holds_known_file(FileSystem& fs, const Directory& parent, const DirEntry& entry, RootRole role) {
  for (const DirEntry& item : list_below(fs, parent, entry.name)) {
    if (item.type == FileType::kDirectory) continue;
    const Classified found = classify(role, join_path(entry.name.str(), item.name.str()));
    const bool telling = found.kind != ArtifactKind::kUnknown && found.kind != ArtifactKind::kTemporary;
    // Lock files of any name could belong to anything: only a hash's counts.
    const bool lock = found.kind == ArtifactKind::kLock;
    if (telling && !lock) return true;
    const std::string& name = item.name.str();
    if (lock && name.size() > 5 && torch::HashName::parse(name.substr(0, name.size() - 5))) return true;
  }
  return false;
}

bool holds_directory(FileSystem& fs, const Directory& parent, const DirEntry& entry,
                     bool (*matches)(std::string_view)) {
  const Listing items = list_below(fs, parent, entry.name);
  return std::any_of(items.begin(), items.end(), [&](const DirEntry& item) {
    return may_be_directory(item) && matches(item.name.str());
  });
}

bool is_triton_level(std::string_view name) {
  const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
  return number || is_triton_directory_name(name);
}

bool speaks_for_vllm(FileSystem& fs, const Directory& directory, const DirEntry& entry) {
  const std::string& name = entry.name.str();
  if (!may_be_directory(entry))
    return is_vllm_artifact_name(name) || name == "vllm_compile_cache.py" || name == "cache_key_factors.json";
  if (name == "torch_compile_cache" || name == "torch_aot_compile") return true;
  if (is_vllm_artifact_name(name) || is_rank_directory_name(name)) return true;
  if (name == "inductor_cache") return true;
  if (!is_hex(name, 10) && !is_hex(name, 64)) return false;
  return holds_directory(fs, directory, entry, is_rank_directory_name);
}

bool speaks_for_triton(FileSystem& fs, const Directory& directory, const DirEntry& entry) {
  if (!may_be_directory(entry)) return false;
  const std::string& name = entry.name.str();
  if (is_triton_directory_name(name)) return holds_known_file(fs, directory, entry, RootRole::kTriton);
  return name == "cache" && holds_directory(fs, directory, entry, is_triton_directory_name);
}

bool speaks_for_inductor(FileSystem& fs, const Directory& directory, const DirEntry& entry) {
  const std::string& name = entry.name.str();
  if (!may_be_directory(entry)) return name == "memoizer_cache.json";
  if (name == "fxgraph" || name == ".cachetool") return true;
  if (name == "aotautograd") return true;
  if (name == "triton") return holds_directory(fs, directory, entry, is_triton_level);
  if (name == "cache") {
    const Listing items = list_below(fs, directory, entry.name);
    return std::any_of(items.begin(), items.end(),
                       [](const DirEntry& item) { return is_hex(item.name.str(), 64); });
  }
  if (is_fresh_cache_name(name)) return holds_directory(fs, directory, entry, is_shard_name);
  const bool probed =
      is_shard_name(name) || name == "locks" || name == "dynamo" || name == "precompiled_headers";
  if (probed) return holds_known_file(fs, directory, entry, RootRole::kInductor);
  const auto hash = torch::HashName::parse(name);
  return hash && hash->prefix == 'c';
}

}  // namespace

Expected<std::optional<RootRole>> recognise_root(FileSystem& fs, const Directory& directory) {
  auto entries = fs.list(directory);
  if (!entries) return tl::unexpected(std::move(entries.error()));
  using Test = bool (*)(FileSystem&, const Directory&, const DirEntry&);
  constexpr std::pair<RootRole, Test> kTests[] = {{RootRole::kVllm, speaks_for_vllm},
                                                  {RootRole::kInductor, speaks_for_inductor},
                                                  {RootRole::kTriton, speaks_for_triton}};
  for (const auto& [role, speaks] : kTests) {
    std::size_t probes = 0;
    for (const DirEntry& entry : *entries) {
      if (may_be_directory(entry) && ++probes > kMaxProbes * 16) break;
      if (speaks(fs, directory, entry)) return role;
    }
  }
  return std::nullopt;
}

}  // namespace cachetool::store
