#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/unicode_printable.h"
#include "base/utf8.h"

namespace cachetool {
namespace {

constexpr bool is_surrogate(char32_t value) {
  return value >= 0xd800 && value <= 0xdfff;
}

/// Control and format characters that move the cursor, reorder text, break lines or can't be seen.
bool hides_or_moves(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},
      {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f}, {0x2028, 0x202e},
      {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
      {0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
  };
  if (c >= 0x20 && c < 0x7f) return false;
  for (const Range& range : kRanges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

/// `\n`, `\r`, `\t`, `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
void append_escape(std::string& out, char32_t c) {
  const auto number = static_cast<std::uint32_t>(c);
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (c < 0x100) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
  } else if (c < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", number);
  }
}

/// CPython prefers single quotes unless that would need an escape and double quotes would not.
char choose_quote(std::string_view text) {
  return text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
}

}  // namespace

std::size_t find_invalid_utf8_from(std::string_view text, std::size_t from, Surrogates surrogates) {
  for (std::size_t position = from; position < text.size();) {
    const CodePoint code_point = decode_utf8(text, position, surrogates);
    if (!code_point.valid) return position;
    position += code_point.length;
    if (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) {
      position = find_non_ascii(text, position);
    }
  }
  return std::string_view::npos;
}

std::string escape_for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint code_point = decode_utf8(text, position, Surrogates::kAllowed);
    if (!code_point.valid || is_surrogate(code_point.value)) {
      append_escape(out, code_point.value);
    } else if (!hides_or_moves(code_point.value)) {
      out.append(text.substr(position, code_point.length));
    } else if (code_point.value >= 0x80 && code_point.value < 0x100) {
      // Not \xNN, which stands for a raw byte.
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(code_point.value));
    } else {
      append_escape(out, code_point.value);
    }
    position += code_point.length;
  }
  return out;
}

std::string python_repr(std::string_view text) {
  const char quote = choose_quote(text);
  std::string out(1, quote);
  out.reserve(text.size() + 2);
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint code_point = decode_utf8(text, position, Surrogates::kAllowed);
    const char32_t c = code_point.valid ? code_point.value : 0xdc00U + code_point.value;
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (is_python_printable(c)) {
      out.append(text.substr(position, code_point.length));
    } else {
      append_escape(out, c);
    }
    position += code_point.length;
  }
  out += quote;
  return out;
}

std::string python_bytes_repr(std::string_view bytes) {
  const char quote = choose_quote(bytes);
  std::string out = "b";
  out += quote;
  for (const char c : bytes) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
  out += quote;
  return out;
}

std::string python_float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";

  // "d.ddde±XX" with the fewest digits; Python lays out the same digits in its own way.
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                    std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 1) digits += text.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);

  std::string out = std::signbit(value) ? "-" : "";
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out += digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  } else {
    const auto whole = static_cast<std::size_t>(exponent + 1);
    out += digits.substr(0, whole) + "." + digits.substr(whole);
  }
  return out;
}

}  // namespace cachetool
