#pragma once

#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "report/section.h"
#include "store/cache_set.h"
#include "verify/repair.h"

namespace cachetool::report {

/// A section with what is, or would be, moved: one row for each unit.
void write_repair_text(SectionWriter& sections, const store::CacheSet& cache,
                       const std::vector<verify::RootRepair>& repairs);

/// The same as JSON objects, one for each unit and for each that was left out, in an open array.
void write_repair_units(JsonWriter& json, const store::CacheSet& cache,
                        const std::vector<verify::RootRepair>& repairs);

}  // namespace cachetool::report
