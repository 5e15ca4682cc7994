// Guard expressions: running the steps.

#include <span>

#include <fmt/format.h>

#include "pickle/sym_expr.h"
#include "pickle/sym_function.h"

namespace cachetool::pickle {

/// Runs the steps of an expression on a stack of numbers.
class SymMachine {
 public:
  SymMachine(const SymExpr& expression, const SymExpr::Binding& binding)
      : expression_(expression), binding_(binding) {}

  Expected<Number> run() {
    const auto& steps = expression_.steps_;
    for (std::size_t at = 0; at < steps.size();) {
      const auto next = step(steps[at]);
      if (!next) {
        Error error = next.error();
        error.offset = steps[at].offset;
        return tl::unexpected<Error>(std::move(error));
      }
      at += static_cast<std::size_t>(*next);
    }
    return stack_.back();
  }

 private:
  using Op = SymExpr::Op;
  using BinaryOp = SymExpr::BinaryOp;
  using Comparison = SymExpr::Comparison;

  Number pop() {
    const Number top = stack_.back();
    stack_.pop_back();
    return top;
  }

  Expected<std::int32_t> push(const Expected<Number>& value) {
    if (!value) return tl::unexpected<Error>(value.error());
    stack_.push_back(*value);
    return 1;
  }

  static bool holds(Comparison comparison, Order order) {
    switch (comparison) {
      case Comparison::kLess:
        return order == Order::kLess;
      case Comparison::kLessEqual:
        return order == Order::kLess || order == Order::kEqual;
      case Comparison::kEqual:
        return order == Order::kEqual;
      case Comparison::kNotEqual:
        return order != Order::kEqual;
      case Comparison::kGreater:
        return order == Order::kGreater;
      case Comparison::kGreaterEqual:
        return order == Order::kGreater || order == Order::kEqual;
    }
    return false;
  }

  static Expected<Number> binary(BinaryOp operation, const Number& a, const Number& b) {
    switch (operation) {
      case BinaryOp::kOr:
        return bitwise('|', a, b);
      case BinaryOp::kXor:
        return bitwise('^', a, b);
      case BinaryOp::kAnd:
        return bitwise('&', a, b);
      case BinaryOp::kShiftLeft:
        return shift_left(a, b);
      case BinaryOp::kShiftRight:
        return shift_right(a, b);
      case BinaryOp::kAdd:
        return add(a, b);
      case BinaryOp::kSubtract:
        return subtract(a, b);
      case BinaryOp::kMultiply:
        return multiply(a, b);
      case BinaryOp::kTrueDivide:
        return true_divide(a, b);
      case BinaryOp::kFloorDivide:
        return floor_divide(a, b);
      case BinaryOp::kModulo:
        return modulo(a, b);
      case BinaryOp::kPower:
        return power(a, b);
    }
    return fail(ErrorCode::kUnsupported, "an operator that doesn't exist");
  }

  /// How far to go from here.
  Expected<std::int32_t> step(const SymExpr::Step& step) {
    switch (step.op) {
      case Op::kPush:
        return push(expression_.numbers_[static_cast<std::size_t>(step.target)]);
      case Op::kLoad: {
        const std::string& name = expression_.names_[static_cast<std::size_t>(step.target)];
        const auto value = binding_(name);
        if (!value) return fail(ErrorCode::kNotFound, fmt::format("no value for {}", name));
        return push(Number::integer(*value));
      }
      case Op::kBinary: {
        const Number b = pop();
        const Number a = pop();
        return push(binary(static_cast<BinaryOp>(step.argument), a, b));
      }
      case Op::kNegate:
        return push(negate(pop()));
      case Op::kPlus: {
        const Number a = pop();
        return push(a.is_float() ? a : Number::integer(a.as_int()));
      }
      case Op::kNot:
        return push(Number::boolean(!pop().truth()));
      case Op::kCompare:
      case Op::kCompareChain: {
        const Number b = pop();
        const bool result = holds(static_cast<Comparison>(step.argument), compare(pop(), b));
        const bool chain = step.op == Op::kCompareChain;
        stack_.push_back(chain && result ? b : Number::boolean(result));
        return chain && !result ? step.target : 1;
      }
      case Op::kJumpIfFalseOrPop:
      case Op::kJumpIfTrueOrPop:
        if (stack_.back().truth() == (step.op == Op::kJumpIfTrueOrPop)) return step.target;
        stack_.pop_back();
        return 1;
      case Op::kPopJumpIfFalse:
        return pop().truth() ? 1 : step.target;
      case Op::kJump:
        return step.target;
      case Op::kCall: {
        const std::span<const Number> arguments(stack_.data() + (stack_.size() - step.count), step.count);
        const auto value = sym_functions()[step.argument].apply(arguments);
        stack_.erase(stack_.end() - step.count, stack_.end());
        return push(value);
      }
    }
    return 1;
  }

  const SymExpr& expression_;
  const SymExpr::Binding& binding_;
  std::vector<Number> stack_;
};

Expected<Number> SymExpr::evaluate(const Binding& binding) const {
  return SymMachine(*this, binding).run();
}

}  // namespace cachetool::pickle
