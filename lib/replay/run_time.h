#pragma once

#include <string>
#include <vector>

#include "replay/decision.h"
#include "replay/rules.h"
#include "replay/settings.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// Something that torch decides only when the graph is called, and what the entry tells about it.
struct RunTimeNote {
  std::string id;    ///< "mutation", "capture-sizes", …; docs/post-compile.md lists them
  std::string text;  ///< a sentence with the positions, names and limits concerned
};

/// What remains open after `decision`; empty where no CUDA graph results.
/// torch/_inductor/cudagraph_trees.py: cudagraphify_impl, CUDAGraphTreeManager (2.6, 2.9, 2.15);
/// torch/_inductor/compile_fx.py: cudagraphify_impl.
std::vector<RunTimeNote> run_time_notes(const torch::CompiledFxGraph& graph, const Decision& decision,
                                        const Settings& settings, const Rules& rules);

}  // namespace cachetool::replay
