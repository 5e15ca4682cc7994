#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "pickle/python_number.h"

namespace cachetool::pickle {

/// A function that guard expressions may call: how it is written, how many arguments it takes, what it does.
struct SymFunction {
  std::string_view name;
  std::uint8_t min_arguments;
  std::uint8_t max_arguments;  ///< 255: any number
  Expected<Number> (*apply)(std::span<const Number> arguments);
};

/// The closed list. Names as torch/utils/_sympy/printers.py (PythonPrinter), torch's SYMPY_INTERP and sympy's
/// own printer write them, releases 2.6 to 2.13.
std::span<const SymFunction> sym_functions();

}  // namespace cachetool::pickle
