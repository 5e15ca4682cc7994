#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::torch {

/// An input or output of a graph as its printed text declares it: `primals_1: "f32[8, 4][4, 1]cpu"`.
struct GraphValue {
  std::string name;
  std::string dtype;   ///< "float32"; "int" for symbolic integers; as printed where the abbreviation isn't
                       ///< known; may be empty
  std::string size;    ///< "8, 4"; the expression of a symbolic integer
  std::string stride;  ///< "4, 1"; empty where the text doesn't say
  std::string device;  ///< "cpu", "cuda:0"
};

struct GraphSignature {
  std::vector<GraphValue> inputs;
  std::vector<GraphValue> outputs;  ///< None outputs have an empty dtype
  bool empty() const { return inputs.empty() && outputs.empty(); }
};

/// Reads parameters, annotations and the return statement of a printed graph, as torch/fx/graph.py writes it:
/// _gen_python_code (2.6 on one line, 2.15 with a parameter a line). What isn't understood is left out.
/// Linear time, nothing is evaluated.
GraphSignature graph_signature(std::string_view graph_text);

/// Inputs from the `rand_strided` calls that end a wrapper module (torch/_inductor/codegen/wrapper.py:
/// benchmark_compiled_module, 2.6; get_args, 2.15): concrete sizes of the compile. Outputs stay empty.
GraphSignature wrapper_signature(std::string_view source_code);

}  // namespace cachetool::torch
