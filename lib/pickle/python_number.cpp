#include "pickle/python_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace cachetool::pickle {
namespace {

constexpr double kTwoTo126 = 0x1p126;
constexpr Int128 kExactDouble = Int128{1} << 53;

tl::unexpected<Error> too_large() {
  return fail(ErrorCode::kLimitWork, "an integer of more than 127 bits");
}

tl::unexpected<Error> by_zero() {
  return fail(ErrorCode::kMalformed, "division by zero");
}

bool any_float(const Number& a, const Number& b) {
  return a.is_float() || b.is_float();
}

/// Quotient and remainder of floats as CPython's float_divmod computes them.
std::pair<double, double> float_divmod(double a, double b) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0) {
    if ((b < 0) != (remainder < 0)) {
      remainder += b;
      quotient -= 1;
    }
  } else {
    remainder = std::copysign(0.0, b);
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), remainder};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, remainder};
}

Expected<Number> from_float(double value) {
  if (std::isnan(value) || std::isinf(value)) {
    return fail(ErrorCode::kMalformed, "a non-finite float has no integer value");
  }
  if (std::fabs(value) >= kTwoTo126) return too_large();
  return Number::integer(static_cast<Int128>(value));
}

Order order_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return Order::kUnordered;
  return a < b ? Order::kLess : a > b ? Order::kGreater : Order::kEqual;
}

Order compare_mixed(Int128 a, double b) {
  if (std::isnan(b)) return Order::kUnordered;
  if (b >= 0x1p127) return Order::kLess;
  if (b < -0x1p127) return Order::kGreater;
  const auto whole = static_cast<Int128>(b);
  if (a != whole) return a < whole ? Order::kLess : Order::kGreater;
  return order_of(0, b - std::trunc(b));
}

std::optional<Error> shift_problem(const Number& a, const Number& b) {
  if (any_float(a, b)) return Error{ErrorCode::kWrongType, "a shift of a float", {}, {}, {}};
  if (b.as_int() < 0) return Error{ErrorCode::kMalformed, "a negative shift count", {}, {}, {}};
  return std::nullopt;
}

}  // namespace

Order compare(const Number& a, const Number& b) {
  if (a.is_float() && b.is_float()) return order_of(a.as_float(), b.as_float());
  if (b.is_float()) return compare_mixed(a.as_int(), b.as_float());
  if (!a.is_float()) {
    return a.as_int() < b.as_int() ? Order::kLess : a.as_int() > b.as_int() ? Order::kGreater : Order::kEqual;
  }
  const Order reverse = compare_mixed(b.as_int(), a.as_float());
  return reverse == Order::kLess ? Order::kGreater : reverse == Order::kGreater ? Order::kLess : reverse;
}

Expected<Number> add(const Number& a, const Number& b) {
  if (any_float(a, b)) return Number::real(a.as_float() + b.as_float());
  Int128 result = 0;
  if (__builtin_add_overflow(a.as_int(), b.as_int(), &result)) return too_large();
  return Number::integer(result);
}

Expected<Number> subtract(const Number& a, const Number& b) {
  if (any_float(a, b)) return Number::real(a.as_float() - b.as_float());
  Int128 result = 0;
  if (__builtin_sub_overflow(a.as_int(), b.as_int(), &result)) return too_large();
  return Number::integer(result);
}

Expected<Number> multiply(const Number& a, const Number& b) {
  if (any_float(a, b)) return Number::real(a.as_float() * b.as_float());
  Int128 result = 0;
  if (__builtin_mul_overflow(a.as_int(), b.as_int(), &result)) return too_large();
  return Number::integer(result);
}

Expected<Number> true_divide(const Number& a, const Number& b) {
  if (!b.truth()) return by_zero();
  if (!any_float(a, b)) {
    // Python rounds the exact quotient once; so does this as long as both are exact doubles.
    for (const Int128 value : {a.as_int(), b.as_int()}) {
      if (value > kExactDouble || value < -kExactDouble) {
        return fail(ErrorCode::kLimitWork, "true division of integers beyond 2 to the 53rd");
      }
    }
  }
  return Number::real(a.as_float() / b.as_float());
}

Expected<Number> floor_divide(const Number& a, const Number& b) {
  if (!b.truth()) return by_zero();
  if (any_float(a, b)) return Number::real(float_divmod(a.as_float(), b.as_float()).first);
  if (b.as_int() == -1) return negate(a);
  const Int128 quotient = a.as_int() / b.as_int();
  const Int128 remainder = a.as_int() % b.as_int();
  return Number::integer(remainder != 0 && (remainder < 0) != (b.as_int() < 0) ? quotient - 1 : quotient);
}

Expected<Number> modulo(const Number& a, const Number& b) {
  if (!b.truth()) return by_zero();
  if (any_float(a, b)) return Number::real(float_divmod(a.as_float(), b.as_float()).second);
  if (b.as_int() == -1) return Number::integer(0);
  const Int128 remainder = a.as_int() % b.as_int();
  return Number::integer(remainder != 0 && (remainder < 0) != (b.as_int() < 0) ? remainder + b.as_int()
                                                                               : remainder);
}

Expected<Number> power(const Number& a, const Number& b) {
  if (any_float(a, b) || b.as_int() < 0) {
    const double base = a.as_float();
    const double exponent = b.as_float();
    if (base == 0 && exponent < 0) return by_zero();
    if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && exponent != std::floor(exponent)) {
      return fail(ErrorCode::kWrongType, "a power that is a complex number");
    }
    const double result = std::pow(base, exponent);
    if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
      return fail(ErrorCode::kMalformed, "a power beyond the range of floats");
    }
    return Number::real(result);
  }
  Int128 result = 1;
  Int128 factor = a.as_int();
  for (Int128 exponent = b.as_int(); exponent > 0;) {
    if (exponent & 1 && __builtin_mul_overflow(result, factor, &result)) return too_large();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(factor, factor, &factor)) return too_large();
  }
  return Number::integer(result);
}

Expected<Number> negate(const Number& a) {
  if (a.is_float()) return Number::real(-a.as_float());
  return subtract(Number::integer(0), a);
}

Expected<Number> bitwise(char operation, const Number& a, const Number& b) {
  if (any_float(a, b)) return fail(ErrorCode::kWrongType, "a bitwise operation on a float");
  const Int128 result = operation == '&'   ? a.as_int() & b.as_int()
                        : operation == '|' ? a.as_int() | b.as_int()
                                           : a.as_int() ^ b.as_int();
  const bool booleans = a.kind() == Number::Kind::kBool && b.kind() == Number::Kind::kBool;
  return booleans ? Number::boolean(result != 0) : Number::integer(result);
}

Expected<Number> shift_left(const Number& a, const Number& b) {
  if (auto problem = shift_problem(a, b)) return tl::unexpected<Error>(std::move(*problem));
  if (a.as_int() == 0) return Number::integer(0);
  if (b.as_int() >= 126) return too_large();
  return multiply(a, Number::integer(Int128{1} << static_cast<int>(b.as_int())));
}

Expected<Number> shift_right(const Number& a, const Number& b) {
  if (auto problem = shift_problem(a, b)) return tl::unexpected<Error>(std::move(*problem));
  if (b.as_int() >= 127) return Number::integer(a.as_int() < 0 ? -1 : 0);
  return Number::integer(a.as_int() >> static_cast<int>(b.as_int()));
}

Expected<Number> to_integer(char direction, const Number& a) {
  if (!a.is_float()) return Number::integer(a.as_int());
  const double value = a.as_float();
  switch (direction) {
    case 'f':
      return from_float(std::floor(value));
    case 'c':
      return from_float(std::ceil(value));
    case 't':
      return from_float(std::trunc(value));
    default:
      return from_float(std::nearbyint(value));
  }
}

Expected<Number> round_to(const Number& a, std::int64_t digits) {
  if (digits < 0 || digits > 300) return fail(ErrorCode::kUnsupported, "round to that many digits");
  if (!a.is_float()) return Number::integer(a.as_int());
  if (!std::isfinite(a.as_float())) return a;
  std::array<char, 700> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), a.as_float());
  double value = 0;
  std::from_chars(text.data(), text.data() + length, value);
  return Number::real(value);
}

}  // namespace cachetool::pickle
