#pragma once

#include <cstdint>

#include "base/error.h"

namespace cachetool::pickle {

__extension__ using Int128 = __int128;

/// A Python number as guard expressions need it: bool, int (up to 127 bits; beyond it operations fail with
/// kLimitWork) or float. Booleans count as the integers 0 and 1.
class Number {
 public:
  enum class Kind : std::uint8_t { kBool, kInt, kFloat };

  static Number boolean(bool value) { return Number(Kind::kBool, value ? 1 : 0, 0); }
  static Number integer(Int128 value) { return Number(Kind::kInt, value, 0); }
  static Number real(double value) { return Number(Kind::kFloat, 0, value); }

  Kind kind() const { return kind_; }
  bool is_float() const { return kind_ == Kind::kFloat; }
  Int128 as_int() const { return integer_; }
  double as_float() const { return is_float() ? float_ : static_cast<double>(integer_); }
  bool truth() const { return is_float() ? float_ != 0 : integer_ != 0; }

 private:
  Number(Kind kind, Int128 integer, double real) : kind_(kind), integer_(integer), float_(real) {}
  Kind kind_;
  Int128 integer_;
  double float_;
};

/// Python's order of two numbers, exact between int and float. kUnordered when a NaN takes part.
enum class Order : std::uint8_t { kLess, kEqual, kGreater, kUnordered };
Order compare(const Number& a, const Number& b);

// Arithmetic with the semantics of CPython 3: floor division and modulo with the divisor's sign, true
// division giving a float, powers with a negative exponent giving a float. Errors: kMalformed where Python
// raises ZeroDivisionError, ValueError or OverflowError; kLimitWork where an integer would need more than 127
// bits; kWrongType where Python raises TypeError.
Expected<Number> add(const Number& a, const Number& b);
Expected<Number> subtract(const Number& a, const Number& b);
Expected<Number> multiply(const Number& a, const Number& b);
Expected<Number> true_divide(const Number& a, const Number& b);
Expected<Number> floor_divide(const Number& a, const Number& b);
Expected<Number> modulo(const Number& a, const Number& b);
Expected<Number> power(const Number& a, const Number& b);
Expected<Number> negate(const Number& a);
Expected<Number> bitwise(char operation, const Number& a, const Number& b);  ///< '&', '|', '^'
Expected<Number> shift_left(const Number& a, const Number& b);
Expected<Number> shift_right(const Number& a, const Number& b);

/// The nearest integer in one direction: 'f' floor, 'c' ceil, 't' trunc, 'r' round (half to even). An int
/// stays.
Expected<Number> to_integer(char direction, const Number& a);
/// Python's round(a, digits) for digits from 0 to 300.
Expected<Number> round_to(const Number& a, std::int64_t digits);

}  // namespace cachetool::pickle
