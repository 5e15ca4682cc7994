#pragma once

#include <cstdint>

#include "base/output.h"
#include "pickle/document.h"

namespace cachetool::report {

struct PickleDumpOptions {
  std::uint64_t max_text = 100;         ///< bytes of a string that are printed; 0: all
  std::uint64_t max_lines = 1'000'000;  ///< then a line says that more follows
};

/// Writes the tree of values that a pickle builds, one value a line, indented by depth: calls with what they
/// are given, states, containers with their sizes, and the offset of each. A value that is there twice is
/// written once and named by its number later, so output is linear in the input and cycles end. Deviations
/// and bytes behind the end follow.
void write_pickle_dump(OutputSink& sink, const pickle::Document& document, const PickleDumpOptions& options);

}  // namespace cachetool::report
