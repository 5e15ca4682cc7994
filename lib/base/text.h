#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cachetool {

/// How strict a UTF-8 check is about surrogate code points U+D800 to U+DFFF.
enum class Surrogates : bool {
  kRejected,  ///< strict UTF-8
  kAllowed,   ///< CPython's "surrogatepass", which pickle strings use
};

/// Position of the first byte that is not part of well-formed UTF-8, or npos. Word-wise over ASCII.
std::size_t find_invalid_utf8(std::string_view text, Surrogates surrogates);

/// What a name from a cache looks like on a terminal: control characters, bidi overrides, invalid UTF-8 and
/// (in one-line cells) newlines become visible escapes such as `\x1b`, `\u202e`, `\n`. Everything else is kept.
std::string escape_for_terminal(std::string_view text);

/// Python's repr of a str with these contents (surrogatepass UTF-8): quotes as CPython chooses them,
/// non-printable characters escaped.
std::string python_repr(std::string_view text);

}  // namespace cachetool
