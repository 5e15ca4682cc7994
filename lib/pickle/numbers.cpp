#include "pickle/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "pickle/key_hash.h"

namespace cachetool::pickle {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

bool is_negative(std::string_view bytes) {
  return !bytes.empty() && (bytes.back() & '\x80') != 0;
}

/// Magnitude of a two's complement integer as 32-bit limbs, lowest first.
std::vector<std::uint32_t> magnitude(std::string_view bytes) {
  const bool negative = is_negative(bytes);
  std::vector<std::uint32_t> limbs(bytes.size() / 4 + 1, 0);
  unsigned carry = negative ? 1 : 0;
  for (std::size_t i = 0; i < limbs.size() * 4; ++i) {
    unsigned byte = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : (negative ? 0xffU : 0U);
    if (negative) {
      byte = (byte ^ 0xffU) + carry;
      carry = byte >> 8;
      byte &= 0xffU;
    }
    limbs[i / 4] |= byte << (8 * (i % 4));
  }
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return limbs;
}

std::string hexadecimal(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const std::vector<std::uint32_t> limbs = magnitude(bytes);
  std::string digits;
  for (std::size_t i = 0; i < limbs.size() * 8; ++i) digits += kDigits[(limbs[i / 8] >> (4 * (i % 8))) & 15];
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  std::reverse(digits.begin(), digits.end());
  return (is_negative(bytes) ? "-0x" : "0x") + digits;
}

}  // namespace

std::string_view trim_integer(std::string_view bytes) {
  while (bytes.size() > 1) {
    const char last = bytes.back();
    const bool sign_below = (bytes[bytes.size() - 2] & '\x80') != 0;
    if (!((last == '\0' && !sign_below) || (last == '\xff' && sign_below))) break;
    bytes.remove_suffix(1);
  }
  return bytes;
}

std::int64_t small_integer(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  if (is_negative(bytes) && bytes.size() < 8) value |= ~std::uint64_t{0} << (8 * bytes.size());
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> as_small_integer(const Value& number) {
  switch (number.tag()) {
    case Tag::kBool:
      return number.as_bool() ? 1 : 0;
    case Tag::kInt:
      return number.as_int();
    case Tag::kFloat: {
      const double value = number.as_float();
      if (!(value >= -kTwo63 && value < kTwo63) || value != std::floor(value)) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

WideFloat widen(double value) {
  WideFloat wide{{}, 0};
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  const std::size_t shift = static_cast<std::size_t>(exponent - 53);  // at least 11, since |value| >= 2^63
  for (std::size_t bit = 0; bit < 53; ++bit) {
    if ((mantissa >> bit & 1) == 0) continue;
    const std::size_t at = shift + bit;
    wide.bytes[at / 8] = static_cast<char>(wide.bytes[at / 8] | (1 << (at % 8)));
  }
  if (value < 0) {
    unsigned carry = 1;
    for (char& byte : wide.bytes) {
      const unsigned flipped = (static_cast<unsigned char>(byte) ^ 0xffU) + carry;
      byte = static_cast<char>(flipped & 0xffU);
      carry = flipped >> 8;
    }
  }
  wide.size = trim_integer({wide.bytes.data(), wide.bytes.size()}).size();
  return wide;
}

bool numbers_equal(const Value& a, const Value& b) {
  if (a.is(Tag::kFloat) && b.is(Tag::kFloat)) return a.as_float() == b.as_float();
  const auto small_a = as_small_integer(a);
  const auto small_b = as_small_integer(b);
  if (small_a || small_b) return small_a == small_b;
  if (a.is(Tag::kBigInt) && b.is(Tag::kBigInt)) return a.bytes() == b.bytes();
  const double value = a.is(Tag::kFloat) ? a.as_float() : b.as_float();
  if (!std::isfinite(value) || std::fabs(value) < kTwo63) return false;
  return widen(value).view() == (a.is(Tag::kBigInt) ? a : b).bytes();
}

std::uint64_t hash_number(const Value& number, std::uint64_t nan_hash) {
  if (const auto small = as_small_integer(number)) return hash_int(*small);
  if (number.is(Tag::kBigInt)) return hash_text(Tag::kBigInt, number.bytes());
  const double value = number.as_float();
  if (std::isnan(value)) return nan_hash;
  if (std::isfinite(value) && std::fabs(value) >= kTwo63) return hash_text(Tag::kBigInt, widen(value).view());
  return fold(std::bit_cast<std::uint64_t>(value), 0x2c5);
}

std::string to_decimal(const Value& integer, std::size_t max_bytes) {
  if (integer.is(Tag::kInt)) return std::to_string(integer.as_int());
  const std::string_view bytes = integer.bytes();
  if (bytes.size() > max_bytes) return hexadecimal(bytes);
  std::vector<std::uint32_t> limbs = magnitude(bytes);
  std::string digits;
  while (!limbs.empty()) {
    std::uint64_t rest = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      const std::uint64_t part = (rest << 32) | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(part / 1'000'000'000);
      rest = part % 1'000'000'000;
    }
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    for (int i = 0; i < 9 && (rest > 0 || !limbs.empty()); ++i, rest /= 10)
      digits += static_cast<char>('0' + rest % 10);
  }
  if (is_negative(bytes)) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

}  // namespace cachetool::pickle
