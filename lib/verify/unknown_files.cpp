#include "verify/unknown_files.h"

#include <fmt/format.h>

#include "store/paths.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

/// Below these, what torch doesn't find is told by the checks of leftovers.
bool holds_entries(std::string_view directory) {
  for (const std::string_view name : store::split_path(directory))
    if (name == "fxgraph" || name == "aotautograd") return true;
  return false;
}

void check_directory(const Inventory& inventory, const Inventory::Directory& directory,
                     RelationReport& report) {
  std::optional<FileId> first;
  std::uint64_t count = 0;
  for (FileId id = directory.first; id < directory.last; ++id) {
    const Inventory::File& file = inventory.file(id);
    if (file.kind != store::ArtifactKind::kUnknown || !file.in_scope) continue;
    if (count++ == 0) first = id;
  }
  if (!first) return;
  FileReport place(directory.root, inventory.path(*first));
  std::string message = "nothing that torch, Triton or vLLM is known to write here";
  if (count > 1) message += fmt::format("; {} more here are like it", count - 1);
  place.found(checks::kFileUnknown, {.message = std::move(message)});
  report.add(std::move(place));
}

}  // namespace

void check_unknown_files(FileSystem& /*fs*/, const CacheFacts& cache, RelationReport& report) {
  for (const Inventory::Directory& directory : cache.inventory.directories()) {
    const store::RootRole role = cache.inventory.cache().roots[directory.root].role;
    if (role == store::RootRole::kSingleFile || holds_entries(directory.path)) continue;
    check_directory(cache.inventory, directory, report);
  }
}

}  // namespace cachetool::verify
