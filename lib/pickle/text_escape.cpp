#include "pickle/text_escape.h"

#include <cstdint>

#include "base/utf8.h"

namespace cachetool::pickle {
namespace {

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// The character that `\c` stands for, if it is one of the simple escapes.
std::optional<char> simple_escape(char c) {
  switch (c) {
    case '\\':
      return '\\';
    case '\'':
      return '\'';
    case '"':
      return '"';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::size_t> decode_string_escapes(std::string_view text, char* out) {
  char* const start = out;
  for (std::size_t at = 0; at < text.size();) {
    char c = text[at++];
    if (c != '\\') {
      *out++ = c;
      continue;
    }
    if (at == text.size()) return std::nullopt;
    c = text[at++];
    if (const auto simple = simple_escape(c)) {
      *out++ = *simple;
    } else if (c == 'x') {
      if (at + 2 > text.size()) return std::nullopt;
      const int high = hex_digit(text[at]);
      const int low = hex_digit(text[at + 1]);
      if (high < 0 || low < 0) return std::nullopt;
      *out++ = static_cast<char>(high << 4 | low);
      at += 2;
    } else if (is_octal(c)) {
      int code = c - '0';
      for (int i = 0; i < 2 && at < text.size() && is_octal(text[at]); ++i)
        code = code << 3 | (text[at++] - '0');
      *out++ = static_cast<char>(code & 0xff);
    } else {  // a line can't hold the escaped newline, so this is an unknown escape
      *out++ = '\\';
      *out++ = c;
    }
  }
  return static_cast<std::size_t>(out - start);
}

std::optional<std::size_t> decode_unicode_escapes(std::string_view text, char* out) {
  char* const start = out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '\\' || at == text.size()) {
      out = put_utf8(out, static_cast<unsigned char>(c));
      continue;
    }
    const char kind = text[at++];
    const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      *out++ = '\\';
      out = put_utf8(out, static_cast<unsigned char>(kind));
      continue;
    }
    if (text.size() - at < digits) return std::nullopt;
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex_digit(text[at++]);
      if (digit < 0) return std::nullopt;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    if (code > 0x10ffff) return std::nullopt;
    out = put_utf8(out, code);
  }
  return static_cast<std::size_t>(out - start);
}

}  // namespace cachetool::pickle
