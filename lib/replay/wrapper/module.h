#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "replay/wrapper/parser.h"
#include "replay/wrapper/tree.h"

namespace cachetool::replay::wrapper {

/// A kernel that the module compiles when torch imports it: `name = async_compile.<method>(…)`.
struct KernelDefinition {
  std::string_view name;
  std::string_view method;  ///< "cpp_pybinding", "triton", "cpp", …
  ExpressionId call = 0;    ///< a CallExpr, with the kernel's text among its arguments
  Position at;
};

/// A function that takes the module's boxed arguments.
struct Function {
  std::string_view name;
  std::string_view parameter;  ///< the list that is unpacked: "args"
  StatementId statement = 0;   ///< a FunctionStmt
};

/// What a wrapper module defines, without anything being done. Its tail (get_args, benchmark_compiled_module
/// and what stands under `if __name__ == "__main__"`) is left out. torch/_inductor/codegen/wrapper.py:
/// PythonWrapperCodegen.write_header and generate (2.4 to 2.15).
struct Module {
  std::string_view source;
  Tree tree;
  std::vector<ImportStmt> imports;
  /// A name of the module → what it stands for, dotted: "aten" → "torch.ops.aten", "grid" →
  /// "torch._inductor.runtime.triton_heuristics.grid".
  std::unordered_map<std::string_view, std::string> aliases;
  std::vector<KernelDefinition> kernels;
  std::vector<Function> functions;  ///< all but `call` and the tail's: partitions, subgraphs
  std::vector<std::string_view>
      attributes;                ///< set to None, to be filled with constants: "_tensor_constant0"
  std::optional<Function> call;  ///< the entry; nothing for a C++ wrapper
  std::optional<std::vector<std::string_view>> partitions;  ///< functions given to Runner, in order
  bool has_recursively_apply_fns = false;

  const Function* find_function(std::string_view name) const;
  const KernelDefinition* find_kernel(std::string_view name) const;
  /// The dotted name that an expression of names and attributes stands for, its first part resolved through
  /// `aliases`: `aten.sort.stable` → "torch.ops.aten.sort.stable"; empty for another expression.
  std::string dotted_name(ExpressionId id) const;
};

/// Parses and sorts a module's statements. `source` must outlive the result. Errors: those of parse_module;
/// kUnsupported for a statement that wrapper modules don't have at their outer level.
Expected<Module> read_module(std::string_view source, const ParserLimits& limits = {});

}  // namespace cachetool::replay::wrapper
