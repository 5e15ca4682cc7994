#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replay/hints.h"
#include "replay/raised.h"

namespace cachetool::replay {

enum class GuardVerdict : std::uint8_t {
  kTrue,
  kFalse,
  kUnknown,  ///< a size is missing, or the expression isn't one that torch writes
  kRaises,   ///< evaluating it raises in torch
};

/// What a candidate's guards come to.
struct GuardAnswer {
  GuardVerdict verdict = GuardVerdict::kUnknown;
  std::string message;           ///< a clause: with which sizes, or why it isn't known
  std::optional<Raised> raised;  ///< set for kRaises
};

/// Evaluates guards as torch does for the caller's sizes: Python's `and` stops early, so a size behind a
/// false part isn't needed. torch/fx/experimental/symbolic_shapes.py: ShapeEnv.evaluate_guards_expression
/// (2.6 to 2.15).
GuardAnswer evaluate_guards(std::string_view expression, const SizeValues& sizes);

}  // namespace cachetool::replay
