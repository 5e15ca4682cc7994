#include "store/ownership.h"

#include <utility>

#include "store/cache_set.h"
#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

Owner owner_of(const Unit& entry) {
  const auto components = split_path(entry.path);
  Owner owner;
  owner.kind = unit_kind_name(entry.kind);
  owner.path = entry.path;
  if (components.size() >= 2) {
    owner.leaf = components.back();
    owner.key = components[components.size() - 2];
  }
  return owner;
}

Ownership ownership_of(const ReferenceIndex& references, UnitId id, std::string_view asked) {
  const Unit& unit = references.unit(id);
  Ownership result{
      std::string(asked), std::string(unit_kind_name(unit.kind)), unit.path, unit.bytes, unit.files, {}};
  for (const UnitId owner : references.owners(id)) result.owners.push_back(owner_of(references.unit(owner)));
  return result;
}

std::string_view last_component(std::string_view path) {
  const auto components = split_path(path);
  return components.empty() ? std::string_view() : components.back();
}

}  // namespace

Expected<std::vector<Ownership>> find_owners(const CacheSet& cache, const Environment& environment,
                                             const ReferenceIndex& references, std::string_view path) {
  std::vector<Ownership> found;
  const auto location = locate(cache, environment, path);
  if (location) {
    if (const auto unit = references.find(location->root, location->path)) {
      found.push_back(ownership_of(references, *unit, path));
      return found;
    }
  }
  for (const UnitId unit : references.find_name(last_component(path))) {
    found.push_back(ownership_of(references, unit, path));
  }
  if (!found.empty()) return found;
  if (location && !location->path.empty()) {
    const ArtifactKind kind = classify(cache.roots[location->root].role, location->path).kind;
    if (kind != ArtifactKind::kUnknown) {
      found.push_back({std::string(path), std::string(kind_name(kind)), location->path, 0, 0, {}});
      return found;
    }
  }
  return fail(ErrorCode::kNotFound, "nothing of that name in the cache " + cache.roots[0].path,
              std::string(path));
}

}  // namespace cachetool::store
