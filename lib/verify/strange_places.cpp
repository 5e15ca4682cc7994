#include "verify/strange_places.h"

#include <fmt/format.h>

#include "verify/owner_checks.h"

namespace cachetool::verify {

void check_strange_places(FileSystem& /*fs*/, const CacheFacts& cache, RelationReport& report) {
  for (const store::Skipped& place : cache.inventory.skipped()) {
    const bool strange = place.type == FileType::kSymlink || place.type == FileType::kFifo ||
                         place.type == FileType::kSocket || place.type == FileType::kDevice;
    if (!strange) continue;
    FileReport told(place.root, place.path);
    told.found(checks::kOwnerLink, {.message = fmt::format("a {}: what torch reads here was not looked at",
                                                           file_type_name(place.type))});
    report.add(std::move(told));
  }
}

}  // namespace cachetool::verify
