#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pickle/python_number.h"

namespace cachetool::pickle {

struct SymExprLimits {
  std::uint32_t max_bytes = 1 << 20;
  std::uint32_t max_depth = 100;  ///< of parentheses, calls and chained prefixes
};

/// A guard expression or symbolic size, parsed. torch evaluates these strings with Python's eval
/// (torch/fx/experimental/symbolic_shapes.py: ShapeEnv.evaluate_guards_expression, evaluate_symexpr, 2.6
/// to 2.14), so whatever the closed grammar here doesn't have is a finding, never guessed at:
///   names       L['t0'], and symbols: s27, u0, zuf1, … (lower-case letters and underscores, then digits)
///   literals    integers below 2^127, floats, True, False
///   operators   + - * / // % ** & | ^ << >>, unary - and +, comparisons (chained too), and, or, not, if else
///   functions   min, max, abs, round, int, float, bool; math.* and torch.sym_* by an exact list; those that
///               sympy prints by name (FloorDiv, Mod, Max, …)
/// eval gets SYMPY_INTERP as its globals, which are the modules math and torch and two functions of sizes,
/// and Python's builtins beside them; its locals are L or the symbols, all numbers. Nothing accepted here
/// reaches more of that than the functions listed: there is no attribute but math.x and torch.x of the list,
/// no index but L['t0'], no text, no way to name a builtin (none ends in a digit) and no bound on numbers
/// that Python would be busy with, since values beyond a million bits are refused. Names that only sympy's
/// printer knows raise NameError in torch. Parsed into a flat program: evaluating and destroying need no
/// recursion.
class SymExpr {
 public:
  /// Errors: kMalformed with the offset of the offending construct (its text is in the message), kTruncated,
  /// kLimitSize (of the text, of a number, or of what evaluating may give), kLimitDepth.
  static Expected<SymExpr> parse(std::string_view text, const SymExprLimits& limits = {});

  /// Names that a value is needed for, once each, in order of first use: "L['t0']" or "s27".
  const std::vector<std::string>& free_names() const { return names_; }

  using Binding = std::function<std::optional<std::int64_t>(std::string_view name)>;

  /// Evaluates as Python would: `and`/`or` give one of their operands and stop early, comparisons chain.
  /// Errors: kNotFound for a name that `binding` doesn't know, and those of python_number.h; the offset is
  /// that of the operation.
  Expected<Number> evaluate(const Binding& binding) const;

 private:
  friend class SymParser;
  friend class SymMachine;

  enum class Op : std::uint8_t {
    kPush,    ///< argument: position in numbers_
    kLoad,    ///< argument: position in names_
    kBinary,  ///< argument: BinaryOp
    kNegate,
    kPlus,
    kNot,
    kCompare,       ///< argument: Comparison
    kCompareChain,  ///< compares; true: leaves the right operand, false: leaves False and jumps
    kJumpIfFalseOrPop,
    kJumpIfTrueOrPop,
    kPopJumpIfFalse,
    kJump,
    kCall,  ///< argument: position in sym_functions(), number of arguments in `count`
  };
  enum class BinaryOp : std::uint8_t {
    kOr,
    kXor,
    kAnd,
    kShiftLeft,
    kShiftRight,
    kAdd,
    kSubtract,
    kMultiply,
    kTrueDivide,
    kFloorDivide,
    kModulo,
    kPower,
  };
  enum class Comparison : std::uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };
  struct Step {
    Op op;
    std::uint8_t argument = 0;
    std::uint16_t count = 0;
    std::int32_t target = 0;  ///< of jumps: relative to this step; of kPush and kLoad: a position
    std::uint32_t offset = 0;
  };

  /// kLimitSize when a value may take more than a million bits (sym_magnitude.cpp).
  Status check_magnitudes() const;
  static double combined(BinaryOp operation, double left, double right);

  std::vector<Step> steps_;
  std::vector<Number> numbers_;
  std::vector<std::string> names_;
};

}  // namespace cachetool::pickle
