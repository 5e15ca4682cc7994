#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cachetool::torch {

/// What a wrapper module offers to whoever wraps its partitions.
/// torch/_inductor/codegen/wrapper.py: PythonWrapperCodegen.generate_end, 2.8.
struct WrapperRunner {
  bool has_recursively_apply_fns =
      false;                              ///< a module attribute of that name (2.8 on; no C++ wrapper has it)
  std::optional<std::size_t> partitions;  ///< of `runner = Runner(partitions=[…])`; nothing without a runner
};

/// Looks at the module's own lines, without evaluating any. Linear in the text.
WrapperRunner scan_runner(std::string_view source_code);

}  // namespace cachetool::torch
