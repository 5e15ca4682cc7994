#include "store/triton_home.h"

#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

TritonHome located(const CacheSet& set, const std::string& absolute) {
  for (std::uint32_t i = 0; i < set.roots.size(); ++i) {
    const std::string& root = set.roots[i].path;
    if (absolute == root) return {"", i};
    if (is_within(root, absolute)) return {absolute.substr(root.size() + (root == "/" ? 0 : 1)), i};
  }
  return {absolute, std::nullopt};
}

}  // namespace

std::optional<TritonHome> triton_home(Source& source, std::uint16_t store, std::int64_t device) {
  const CacheSet& set = source.cache();
  const EntryStore& place = set.stores[store];
  if (place.is_file()) return std::nullopt;
  if (set.triton_directory) return located(set, *set.triton_directory);
  const std::string_view name = name_of(place.path.empty() ? set.roots[place.root].path : place.path);
  if (name == "inductor_cache") {
    if (place.path.empty()) return std::nullopt;  // its neighbour is outside the root
    std::string path = join_path(directory_of(place.path), "triton_cache");
    if (!source.is_empty_directory(place.root, path)) return std::nullopt;
    return TritonHome{std::move(path), place.root};
  }
  std::string path = join_path(place.path, "triton");
  if (place.path.empty() || !is_fresh_cache_name(name)) path = join_path(path, std::to_string(device));
  return TritonHome{std::move(path), place.root};
}

}  // namespace cachetool::store
