#pragma once

#include <string>
#include <vector>

#include "torch/output_code.h"

namespace cachetool::replay {

/// An input of a graph, as far as the entry describes it.
struct GraphInput {
  std::string name;            ///< "arg0_1"; empty where nothing names it
  bool is_size = false;        ///< a symbolic integer, no tensor
  bool is_static = false;      ///< fx_kwargs.static_input_idxs: keeps its address
  bool is_mutated = false;     ///< mutated_input_idxs: the graph writes to it
  std::string mutation_trace;  ///< where the model's code does that; may be empty
};

/// The inputs by position: from cudagraph_info, where the compile looked into CUDA graphs, else from the
/// printed graph or the wrapper; empty where none of them has any. A pickle can repeat a long text in few
/// bytes: what goes beyond 16 MiB of names and traces is left out.
std::vector<GraphInput> graph_inputs(const torch::CompiledFxGraph& graph);

}  // namespace cachetool::replay
