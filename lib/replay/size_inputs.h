#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/aot_entry.h"
#include "torch/key_details.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// What a guard's L['t0'], L['t1'], … are: the graph's inputs that are symbolic integers with a hint, in
/// order. torch/_inductor/codecache.py: _filter_backed_symints (FxGraphCache in 2.6, GuardedCache from 2.8);
/// torch/fx/experimental/symbolic_shapes.py: ShapeEnv.produce_guards_expression.
struct SizeInputs {
  std::vector<std::string> expressions;  ///< "s77", "2*s77"
  bool complete = false;                 ///< false: more may follow
  std::string reason;                    ///< why more may follow; a clause
};

/// From the lines of a graph's key, which 2.8 and later keep: an integer is a line "example_inputs[i]" that
/// reads ('s77',). torch/_inductor/codecache.py: FxGraphCachePickler._reduce_symint, debug_lines (2.8).
SizeInputs size_inputs_of_key(const torch::KeyDetails& details);

/// From a wrapper's text, for 2.6 and 2.7: `s0 = arg0_1` behind `arg0_1, arg1_1 = args`. An argument that is
/// a number in the wrapper's benchmark but no symbol (an expression, a symbol's second argument, a constant)
/// ends what can be known. torch/_inductor/codegen/wrapper.py: codegen_input_symbol_assignment,
/// benchmark_compiled_module (2.8).
SizeInputs size_inputs_of_wrapper(std::string_view source_code);

/// The better of the two that the graph has.
SizeInputs size_inputs_of(const torch::CompiledFxGraph& graph);

/// Those of an AOTAutograd entry's own guards: the same as its forward graph's, unless tensor subclasses
/// bring sizes of their own. Incomplete and empty where the entry's forward is stored elsewhere and
/// before 2.8.
SizeInputs size_inputs_of(const torch::AotAutogradEntry& entry);

/// Does an expression name a size that has no value until the graph runs ("u0", "zuf1")? Guards never do.
bool is_unbacked(std::string_view expression);

}  // namespace cachetool::replay
