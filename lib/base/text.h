#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cachetool {

/// 0 to 9, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The value of a hexadecimal digit of either case, or -1.
constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// How strict a UTF-8 check is about surrogate code points U+D800 to U+DFFF.
enum class Surrogates : bool {
  kRejected,  ///< strict UTF-8
  kAllowed,   ///< CPython's "surrogatepass", which pickle strings use
};

/// Position of the first byte at or after `from` that is not ASCII, or text.size(). Eight bytes a step.
inline std::size_t find_non_ascii(std::string_view text, std::size_t from = 0);

/// Position of the first byte that is not part of well-formed UTF-8, or npos. Word-wise over ASCII, inline
/// because most strings in a pickle are short.
inline std::size_t find_invalid_utf8(std::string_view text, Surrogates surrogates);

/// What a name from a cache looks like on a terminal: control characters, bidi overrides, characters without
/// a width and line separators become visible escapes such as `\x1b`, `\u202e`, `\n`; bytes that are not
/// UTF-8 become `\xNN`, encoded surrogates `\udXXX`. Everything else, a backslash too, is kept.
std::string escape_for_terminal(std::string_view text);

/// Python's repr of a str with these contents (surrogatepass UTF-8): quotes as CPython chooses them,
/// non-printable characters escaped. A byte that is not UTF-8 counts as the surrogate U+DCXX
/// ("surrogateescape"). CPython 3.11, Objects/unicodeobject.c: unicode_repr.
std::string python_repr(std::string_view text);

/// Python's repr of a bytes object: b'…' with \xNN for everything outside printable ASCII. CPython 3.11,
/// Objects/bytesobject.c: PyBytes_Repr.
std::string python_bytes_repr(std::string_view bytes);

/// Python's repr of a float: the shortest text that reads back as the same value ("1.0", "1e-05", "1e+16",
/// "nan", "-inf").
std::string python_float_repr(double value);

/// The part of find_invalid_utf8 behind the first byte that is not ASCII, at `from`.
std::size_t find_invalid_utf8_from(std::string_view text, std::size_t from, Surrogates surrogates);

inline std::size_t find_non_ascii(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t position = from;
  while (text.size() - position >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + position, sizeof(word));
    if ((word & kHighBits) != 0) break;
    position += sizeof(word);
  }
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) ++position;
  return position;
}

inline std::size_t find_invalid_utf8(std::string_view text, Surrogates surrogates) {
  const std::size_t position = find_non_ascii(text);
  return position == text.size() ? std::string_view::npos
                                 : find_invalid_utf8_from(text, position, surrogates);
}

}  // namespace cachetool
