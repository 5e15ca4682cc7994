#include "pickle/sym_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace cachetool::pickle {
namespace {

using Arguments = std::span<const Number>;
using Result = Expected<Number>;

/// Python's max: the first of the largest.
Result largest(Arguments a) {
  Number best = a[0];
  for (const Number& value : a.subspan(1)) {
    if (compare(value, best) == Order::kGreater) best = value;
  }
  return best;
}

Result smallest(Arguments a) {
  Number best = a[0];
  for (const Number& value : a.subspan(1)) {
    if (compare(value, best) == Order::kLess) best = value;
  }
  return best;
}

/// torch.sym_max and sym_min promote to float when either argument is one.
Result promoted(Result value, Arguments a) {
  if (value && (a[0].is_float() || a[1].is_float())) return Number::real(value->as_float());
  return value;
}
Result sym_max(Arguments a) {
  return promoted(largest(a), a);
}
Result sym_min(Arguments a) {
  return promoted(smallest(a), a);
}

Result absolute(Arguments a) {
  if (a[0].is_float()) return Number::real(std::fabs(a[0].as_float()));
  return a[0].as_int() < 0 ? negate(a[0]) : Result(Number::integer(a[0].as_int()));
}

Result round(Arguments a) {
  if (a.size() == 1) return to_integer('r', a[0]);
  if (a[1].is_float()) return fail(ErrorCode::kWrongType, "round to a float number of digits");
  if (a[1].as_int() < 0 || a[1].as_int() > 300)
    return fail(ErrorCode::kUnsupported, "round to that many digits");
  return round_to(a[0], static_cast<std::int64_t>(a[1].as_int()));
}

Result floor(Arguments a) {
  return to_integer('f', a[0]);
}
Result ceil(Arguments a) {
  return to_integer('c', a[0]);
}
Result trunc(Arguments a) {
  return to_integer('t', a[0]);
}
Result to_float(Arguments a) {
  return Number::real(a[0].as_float());
}
Result to_bool(Arguments a) {
  return Number::boolean(a[0].truth());
}
Result to_flag(Arguments a) {
  return Number::integer(a[0].truth() ? 1 : 0);
}
Result sym_not(Arguments a) {
  return Number::boolean(!a[0].truth());
}
Result identity(Arguments a) {
  return a[0];
}
Result choose(Arguments a) {
  return a[0].truth() ? a[1] : a[2];
}

/// A function of math: ValueError where the result isn't a number, OverflowError where it isn't finite.
template <double (*function)(double)>
Result math(Arguments a) {
  const double x = a[0].as_float();
  const double y = function(x);
  if (std::isnan(y) && !std::isnan(x))
    return fail(ErrorCode::kMalformed, "a function of math outside its domain");
  if (std::isinf(y) && std::isfinite(x))
    return fail(ErrorCode::kMalformed, "a function of math outside its range");
  return Number::real(y);
}

Result pow(Arguments a) {
  const double x = a[0].as_float();
  const double y = a[1].as_float();
  const double z = std::pow(x, y);
  if ((std::isnan(z) && !std::isnan(x) && !std::isnan(y)) ||
      (std::isinf(z) && std::isfinite(x) && std::isfinite(y))) {
    return fail(ErrorCode::kMalformed, "a power outside its domain or range");
  }
  return Number::real(z);
}

Result floor_div(Arguments a) {
  return floor_divide(a[0], a[1]);
}
Result mod(Arguments a) {
  return modulo(a[0], a[1]);
}
Result ceil_div(Arguments a) {
  auto negative = negate(a[0]);
  if (!negative) return negative;
  auto quotient = floor_divide(*negative, a[1]);
  return quotient ? negate(*quotient) : quotient;
}
Result divide(Arguments a) {
  return true_divide(a[0], a[1]);
}
Result raise(Arguments a) {
  return power(a[0], a[1]);
}
Result float_raise(Arguments a) {
  return power(Number::real(a[0].as_float()), Number::real(a[1].as_float()));
}
Result modular_indexing(Arguments a) {
  const auto quotient = floor_divide(a[0], a[1]);
  return quotient ? modulo(*quotient, a[2]) : quotient;
}
Result lshift(Arguments a) {
  return shift_left(a[0], a[1]);
}
Result rshift(Arguments a) {
  return shift_right(a[0], a[1]);
}

Result sum(Arguments a) {
  Result total = Number::integer(0);
  for (const Number& value : a) {
    if (total) total = add(*total, value);
  }
  return total;
}

/// Sizes, then strides (symbolic_shapes.py: eval_is_non_overlapping_and_dense).
Result non_overlapping_and_dense(Arguments a) {
  const std::size_t rank = a.size() / 2;
  const Number one = Number::integer(1);
  if (a.size() % 2 != 0) return fail(ErrorCode::kWrongType, "as many sizes as strides are needed");
  if (rank == 1) {
    return to_flag(std::array{Number::boolean(compare(a[1], one) == Order::kEqual ||
                                              compare(a[0], Number::integer(2)) == Order::kLess)});
  }
  if (std::any_of(a.begin(), a.end(), [](const Number& value) { return value.is_float(); })) {
    return fail(ErrorCode::kWrongType, "sizes and strides are integers");
  }
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    const Int128 left = a[rank + x].as_int();
    const Int128 right = a[rank + y].as_int();
    return left != right ? left < right : x < y;
  });
  Result expected = one;
  for (const std::size_t dim : order) {
    if (a[dim].as_int() == 1) continue;
    if (a[rank + dim].as_int() != expected->as_int()) return Number::integer(0);
    expected = multiply(*expected, a[dim]);
    if (!expected) return expected;
  }
  return one;
}

constexpr std::uint8_t kAny = 255;

constexpr SymFunction kFunctions[] = {
    {"min", 2, kAny, smallest},
    {"max", 2, kAny, largest},
    {"abs", 1, 1, absolute},
    {"round", 1, 2, round},
    {"int", 1, 1, trunc},
    {"float", 1, 1, to_float},
    {"bool", 1, 1, to_bool},
    {"math.floor", 1, 1, floor},
    {"math.ceil", 1, 1, ceil},
    {"math.trunc", 1, 1, trunc},
    {"math.sqrt", 1, 1, math<std::sqrt>},
    {"math.cos", 1, 1, math<std::cos>},
    {"math.cosh", 1, 1, math<std::cosh>},
    {"math.acos", 1, 1, math<std::acos>},
    {"math.sin", 1, 1, math<std::sin>},
    {"math.sinh", 1, 1, math<std::sinh>},
    {"math.asin", 1, 1, math<std::asin>},
    {"math.asinh", 1, 1, math<std::asinh>},
    {"math.tan", 1, 1, math<std::tan>},
    {"math.tanh", 1, 1, math<std::tanh>},
    {"math.atan", 1, 1, math<std::atan>},
    {"math.exp", 1, 1, math<std::exp>},
    {"math.log", 1, 1, math<std::log>},
    {"math.log2", 1, 1, math<std::log2>},
    {"math.pow", 2, 2, pow},
    {"torch.sym_float", 1, 1, to_float},
    {"torch.sym_int", 1, 1, trunc},
    {"torch.sym_max", 2, 2, sym_max},
    {"torch.sym_min", 2, 2, sym_min},
    {"torch.sym_not", 1, 1, sym_not},
    {"torch.sym_ite", 3, 3, choose},
    {"torch.sym_sum", 0, kAny, sum},
    {"torch.sym_sqrt", 1, 1, math<std::sqrt>},
    {"torch._sym_sqrt", 1, 1, math<std::sqrt>},
    {"torch._sym_cos", 1, 1, math<std::cos>},
    {"torch._sym_cosh", 1, 1, math<std::cosh>},
    {"torch._sym_sin", 1, 1, math<std::sin>},
    {"torch._sym_sinh", 1, 1, math<std::sinh>},
    {"torch._sym_tan", 1, 1, math<std::tan>},
    {"torch._sym_tanh", 1, 1, math<std::tanh>},
    {"torch._sym_asin", 1, 1, math<std::asin>},
    {"torch._sym_acos", 1, 1, math<std::acos>},
    {"torch._sym_atan", 1, 1, math<std::atan>},
    {"torch._sym_log2", 1, 1, math<std::log2>},
    {"IsNonOverlappingAndDenseIndicator", 2, kAny, non_overlapping_and_dense},
    {"cast_symbool_to_symint_guardless", 1, 1, to_flag},
    // Sympy's own printer writes these; Python's eval knows none of them, so torch raises NameError on them.
    {"Min", 1, kAny, smallest},
    {"Max", 1, kAny, largest},
    {"Abs", 1, 1, absolute},
    {"FloorDiv", 2, 2, floor_div},
    {"CleanDiv", 2, 2, floor_div},
    {"CeilDiv", 2, 2, ceil_div},
    {"Mod", 2, 2, mod},
    {"PythonMod", 2, 2, mod},
    {"ModularIndexing", 3, 3, modular_indexing},
    {"IntTrueDiv", 2, 2, divide},
    {"FloatTrueDiv", 2, 2, divide},
    {"PowByNatural", 2, 2, raise},
    {"FloatPow", 2, 2, float_raise},
    {"LShift", 2, 2, lshift},
    {"RShift", 2, 2, rshift},
    {"ToFloat", 1, 1, to_float},
    {"FloorToInt", 1, 1, floor},
    {"CeilToInt", 1, 1, ceil},
    {"TruncToInt", 1, 1, trunc},
    {"RoundToInt", 1, 1, round},
    {"RoundDecimal", 2, 2, round},
    {"floor", 1, 1, floor},
    {"ceiling", 1, 1, ceil},
    {"Identity", 1, 1, identity},
    {"Where", 3, 3, choose},
};

}  // namespace

std::span<const SymFunction> sym_functions() {
  return kFunctions;
}

}  // namespace cachetool::pickle
