#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace cachetool {

/// One code point of a text, or what stands in its place.
struct CodePoint {
  char32_t value = 0;       ///< the code point, or the raw byte where `valid` is false
  std::uint8_t length = 1;  ///< bytes that it takes
  bool valid = true;        ///< false: this byte is not part of well-formed UTF-8
};

/// The code point at `position` (< text.size()). Overlong forms, values above U+10FFFF and cut sequences are
/// not valid.
CodePoint decode_utf8(std::string_view text, std::size_t position, Surrogates surrogates);

/// Writes `code_point` (at most U+10FFFF) as UTF-8 to `out`, which has room for its one to four bytes;
/// surrogates as three bytes ("surrogatepass"). Returns the end of what it wrote.
char* put_utf8(char* out, char32_t code_point);

/// Appends `code_point` (at most U+10FFFF) as UTF-8, in the same way.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace cachetool
