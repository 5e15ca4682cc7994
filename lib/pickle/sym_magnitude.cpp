// How large an expression's values may become: Python's integers have no bound, so that 9**9**9**9 keeps eval
// busy, and its memory too, for as long as there is any.

#include <algorithm>
#include <cmath>
#include <vector>

#include "pickle/sym_expr.h"
#include "pickle/sym_function.h"

namespace cachetool::pickle {
namespace {

/// Symbols are sizes and strides: as exponents they are taken for at most 2 to this.
constexpr double kSymbolBits = 16;
constexpr double kFloatBits = 64;
constexpr double kMaxBits = 1 << 20;

double bits_of(const Number& number) {
  const double size = std::fabs(number.as_float());
  return std::isfinite(size) && size >= 2 ? std::ceil(std::log2(size)) : 1;
}

/// Of 2^base raised to a number of 2^exponent, which is 1 at least.
double power_bits(double base, double exponent) {
  return base * std::exp2(std::min(exponent, 64.0));
}

}  // namespace

/// Goes through the steps once and keeps an upper bound of log2 of what is on the stack. Of two ways through
/// a jump the larger value counts.
Status SymExpr::check_magnitudes() const {
  std::vector<double> stack;
  std::vector<double> landing(steps_.size() + 1, 0);  // the largest value that a jump brings to a step
  const auto pop = [&] {
    const double bits = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return bits;
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const std::size_t target = i + static_cast<std::size_t>(step.target);
    if (landing[i] > 0 && !stack.empty()) stack.back() = std::max(stack.back(), landing[i]);
    switch (step.op) {
      case Op::kPush:
        stack.push_back(bits_of(numbers_[static_cast<std::size_t>(step.target)]));
        break;
      case Op::kLoad:
        stack.push_back(kSymbolBits);
        break;
      case Op::kBinary: {
        const double right = pop();
        stack.push_back(combined(static_cast<BinaryOp>(step.argument), pop(), right));
        break;
      }
      case Op::kNegate:
      case Op::kPlus:
        break;
      case Op::kNot:
        pop();
        stack.push_back(1);
        break;
      case Op::kCompare:
        pop();
        pop();
        stack.push_back(1);
        break;
      case Op::kCompareChain: {
        const double right = pop();
        pop();
        stack.push_back(right);
        break;
      }
      case Op::kJumpIfFalseOrPop:
      case Op::kJumpIfTrueOrPop:
      case Op::kJump:
        landing[target] = std::max(landing[target], pop());
        break;
      case Op::kPopJumpIfFalse:
        pop();
        break;
      case Op::kCall: {
        double most = kFloatBits;
        std::vector<double> arguments;
        for (std::uint16_t n = 0; n < step.count; ++n) arguments.push_back(pop());
        for (const double bits : arguments) most = std::max(most, bits);
        const std::string_view name = sym_functions()[step.argument].name;
        if (name == "PowByNatural" && arguments.size() == 2) most = power_bits(arguments[1], arguments[0]);
        if (name == "LShift" && arguments.size() == 2) most = arguments[1] + std::exp2(arguments[0]);
        stack.push_back(most + std::log2(1.0 + step.count));
        break;
      }
    }
    if (!stack.empty() && stack.back() > kMaxBits) {
      return fail(ErrorCode::kLimitSize, "an expression whose value may take more than a million bits", {},
                  step.offset);
    }
  }
  return {};
}

double SymExpr::combined(BinaryOp operation, double left, double right) {
  switch (operation) {
    case BinaryOp::kPower:
      return power_bits(left, right);
    case BinaryOp::kShiftLeft:
      return left + std::exp2(std::min(right, 64.0));
    case BinaryOp::kMultiply:
      return left + right;
    case BinaryOp::kShiftRight:
    case BinaryOp::kFloorDivide:
      return left;
    case BinaryOp::kModulo:
      return right;
    case BinaryOp::kTrueDivide:
      return kFloatBits;
    default:
      return std::max(left, right) + 1;
  }
}

}  // namespace cachetool::pickle
