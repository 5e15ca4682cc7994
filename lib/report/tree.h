#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/output.h"
#include "report/style.h"

namespace cachetool::report {

/// A line of a tree, in the order of printing: a node's children follow it, one level deeper.
struct TreeLine {
  std::size_t depth = 0;
  std::string label;  ///< escaped by the writer
  std::string note;   ///< printed faintly behind the label
  Style style = Style::kPlain;
};

/// Writes the lines with branches drawn in front. Depth grows by at most one from line to line, starting at
/// 0.
void write_tree(OutputSink& sink, const std::vector<TreeLine>& lines, const Palette& palette);

}  // namespace cachetool::report
