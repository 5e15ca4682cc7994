#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace cachetool::replay {

/// An input that is an integer when the graph is called: a size that the graph was compiled for in general.
struct IntegerInput {
  std::size_t position = 0;
  std::string_view symbol;  ///< "s77", "u0": its name in the wrapper and in guards
};

/// The arguments of a function of a wrapper module.
struct CallInputs {
  std::size_t count = 0;
  std::vector<IntegerInput> integers;  ///< in order of position
};

/// Reads the first lines of `def <function>(…)` in a wrapper module: the names that `args` is unpacked into,
/// and which of them are sizes (`s77 = arg0_1`, or a name that is a symbol itself). Nothing where the module
/// has no such function or its first lines have another form. Nothing is evaluated; linear in the text.
/// torch/_inductor/codegen/wrapper.py: write_wrapper_decl, codegen_inputs (2.6, 2.9, 2.15),
/// SubgraphPythonWrapperCodegen (2.8).
std::optional<CallInputs> call_inputs(std::string_view source_code, std::string_view function);

}  // namespace cachetool::replay
