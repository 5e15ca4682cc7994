#pragma once

#include <cstdint>

#include "base/output.h"
#include "pickle/document.h"

namespace cachetool::pickle {

struct DumpOptions {
  std::uint64_t max_string = 120;  ///< bytes shown of a string or of bytes; 0 for all
  std::uint64_t max_lines = 1'000'000;
};

/// Writes the value tree of `document`, a line per value, children indented, for a person. A node that occurs
/// more than once is written where it comes first, as `&N`, and is `*N` elsewhere, so cycles end. Text is
/// escaped as Python's repr does. False when `max_lines` cut it short, which the last line says.
bool dump(const Document& document, OutputSink& sink, const DumpOptions& options = {});

}  // namespace cachetool::pickle
