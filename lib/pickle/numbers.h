#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pickle/value.h"

namespace cachetool::pickle {

/// Little-endian two's complement without redundant sign bytes.
std::string_view trim_integer(std::string_view bytes);

/// The integer in at most 8 bytes of little-endian two's complement.
std::int64_t small_integer(std::string_view bytes);

/// The integer that a bool, int or float equals, if it does and fits in 64 bits.
std::optional<std::int64_t> as_small_integer(const Value& number);

/// A finite float of at least 2^63 in size, as little-endian two's complement without redundant bytes.
struct WideFloat {
  std::array<char, 136> bytes;
  std::size_t size;
  std::string_view view() const { return {bytes.data(), size}; }
};
WideFloat widen(double value);

/// True for kBool, kInt, kBigInt and kFloat.
inline bool is_number(Tag tag) {
  return tag == Tag::kInt || tag == Tag::kBool || tag == Tag::kFloat || tag == Tag::kBigInt;
}

/// Python's == between two numbers.
bool numbers_equal(const Value& a, const Value& b);

/// Python's == compatible hash of a number; `nan_hash` is what NaN gets, which equals nothing.
std::uint64_t hash_number(const Value& number, std::uint64_t nan_hash);

/// Decimal digits of kInt or kBigInt. Integers of more than `max_bytes` bytes are given as "0x…" with a sign
/// instead, since the conversion takes quadratic time.
std::string to_decimal(const Value& integer, std::size_t max_bytes = 2048);

}  // namespace cachetool::pickle
