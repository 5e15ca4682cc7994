#include "pickle/text_number.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace cachetool::pickle {
namespace {

constexpr std::size_t kMaxDecimalDigits = 4300;

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

std::string_view until_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

/// Digits with single underscores between them; nothing when they break that rule or another base's digit
/// appears.
std::optional<std::string> plain_digits(std::string_view text, int base) {
  std::string digits;
  digits.reserve(text.size());
  bool after_digit = false;
  for (const char c : text) {
    if (c == '_') {
      if (!after_digit) return std::nullopt;
      after_digit = false;
      continue;
    }
    if (digit_of(c) >= base) return std::nullopt;
    digits += c;
    after_digit = true;
  }
  if (!after_digit) return std::nullopt;
  return digits;
}

IntegerBytes from_bits(std::string_view digits, unsigned bits_per_digit) {
  IntegerBytes bytes(digits.size() * bits_per_digit / 8 + 2, '\0');
  std::size_t bit = 0;
  for (std::size_t i = digits.size(); i-- > 0; bit += bits_per_digit) {
    const auto digit = static_cast<unsigned>(digit_of(digits[i])) << (bit % 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] | static_cast<char>(digit & 0xff));
    bytes[bit / 8 + 1] = static_cast<char>(bytes[bit / 8 + 1] | static_cast<char>(digit >> 8));
  }
  return bytes;
}

IntegerBytes from_decimal(std::string_view digits) {
  std::vector<std::uint32_t> limbs;
  for (std::size_t at = 0; at < digits.size();) {
    std::uint64_t factor = 1;
    std::uint64_t carry = 0;
    for (int i = 0; i < 9 && at < digits.size(); ++i, ++at) {
      carry = carry * 10 + static_cast<std::uint64_t>(digits[at] - '0');
      factor *= 10;
    }
    for (std::uint32_t& limb : limbs) {
      carry += limb * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  IntegerBytes bytes;
  for (const std::uint32_t limb : limbs) {
    for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(limb >> (8 * i) & 0xff);
  }
  bytes += '\0';
  return bytes;
}

void negate(IntegerBytes& bytes) {
  unsigned carry = 1;
  for (char& byte : bytes) {
    const unsigned flipped = (static_cast<unsigned char>(byte) ^ 0xffU) + carry;
    byte = static_cast<char>(flipped & 0xffU);
    carry = flipped >> 8;
  }
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

/// digits [. digits] [e [sign] digits], with a digit before the exponent.
bool is_decimal_float(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  std::size_t count = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    count += digits();
  }
  if (count == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::optional<IntegerBytes> parse_python_int(std::string_view text, int base) {
  text = until_nul(text);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  unsigned bits_per_digit = 0;
  bool only_zeros = false;
  if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0') {
      const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(text[1])));
      bits_per_digit = letter == 'x' ? 4 : letter == 'o' ? 3 : letter == 'b' ? 1 : 0;
      only_zeros = bits_per_digit == 0;
    }
    if (bits_per_digit > 0) {
      base = 1 << bits_per_digit;
      text.remove_prefix(2);
      if (!text.empty() && text[0] == '_') text.remove_prefix(1);  // 0x_f is allowed
    }
  }
  const std::optional<std::string> digits = plain_digits(text, base);
  if (!digits) return std::nullopt;
  if (only_zeros && digits->find_first_not_of('0') != std::string::npos) return std::nullopt;
  if (bits_per_digit == 0 && digits->size() > kMaxDecimalDigits) return std::nullopt;
  IntegerBytes bytes = bits_per_digit > 0 ? from_bits(*digits, bits_per_digit) : from_decimal(*digits);
  if (negative) negate(bytes);
  return bytes;
}

std::optional<std::int64_t> parse_c_long(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) ++at;
  bool negative = false;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative = text[at++] == '-';
  int base = 10;
  std::size_t first_digit = at;
  if (at < text.size() && text[at] == '0') {
    base = 8;
    if (at + 2 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X') && digit_of(text[at + 2]) < 16) {
      base = 16;
      at += 2;
      first_digit = at;
    }
  }
  std::uint64_t value = 0;
  const std::uint64_t most =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  for (; at < text.size() && digit_of(text[at]) < base; ++at) {
    const auto digit = static_cast<std::uint64_t>(digit_of(text[at]));
    if (value > (most - digit) / static_cast<std::uint64_t>(base)) return std::nullopt;
    value = value * static_cast<std::uint64_t>(base) + digit;
  }
  if (at == first_digit) at = 0;  // nothing was converted, so nothing was used
  if (at != text.size() && text[at] != '\0') return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::optional<double> parse_python_float(std::string_view text) {
  text = until_nul(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  double value = 0;
  if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (equals_ignoring_case(text, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (!is_decimal_float(text)) return std::nullopt;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc::result_out_of_range) {
      value = std::strtod(std::string(text).c_str(), nullptr);  // too small gives 0, too large infinity
    }
    if (std::isinf(value)) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace cachetool::pickle
