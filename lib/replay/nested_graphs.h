#pragma once

#include <string>
#include <vector>

#include "base/budget.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// The compiled graphs that a regional entry holds, in the order in which its pickle does: their keys, or the
/// name of the wrapper module where a graph knows no key. Its graph module is a pickle of its own, in which
/// each region compiled by Inductor is an AOTAutograd entry once more (torch/fx/_graph_pickler.py:
/// GraphPickler, torch/_inductor/standalone_compile.py: AOTCompiledArtifact, 2.12). Nothing is run; what
/// can't be decoded within `budget` is left out.
std::vector<std::string> nested_graphs(const torch::RegionalOutputCode& code, Budget& budget);

}  // namespace cachetool::replay
