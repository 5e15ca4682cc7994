#pragma once

#include "base/json_writer.h"
#include "replay/lookup.h"
#include "report/section.h"

namespace cachetool::report {

/// A lookup inside an open object, as cachetool.replay/1 has it under `lookups`.
void write_lookup_members(JsonWriter& json, const replay::Lookup& lookup);

/// The same for a person: what results, why, and what became of each candidate.
void write_lookup_section(SectionWriter& sections, const replay::Lookup& lookup);

}  // namespace cachetool::report
