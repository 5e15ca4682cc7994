#pragma once

#include "replay/replay.h"
#include "report/section.h"

namespace cachetool::report {

// The sections of `replay` for a person, each written by its own file.

/// Static, copied, mutated and realigned inputs.
void write_input_sections(SectionWriter& sections, const replay::GraphReplay& graph);

/// Constants by state; the ones that are missing or don't fit, one by one.
void write_constant_sections(SectionWriter& sections, const replay::ConstantsReport& report);

/// What a hit adds besides: counters, files, Triton directories.
void write_hit_section(SectionWriter& sections, const replay::OnHit& hit);

}  // namespace cachetool::report
