#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cachetool::pickle {

/// Decodes the backslash escapes of a Python bytes literal into `out`, which has room for text.size() bytes
/// (CPython's PyBytes_DecodeEscape: unknown escapes stay as they are). The decoded size, or nothing when an
/// escape is incomplete.
std::optional<std::size_t> decode_string_escapes(std::string_view text, char* out);

/// Decodes Latin-1 with \uXXXX and \UXXXXXXXX (Python's "raw-unicode-escape") into UTF-8 that may hold
/// surrogates. `out` has room for every byte of `text` twice where its high bit is set, once elsewhere.
/// Nothing when an escape is incomplete or above U+10FFFF.
std::optional<std::size_t> decode_unicode_escapes(std::string_view text, char* out);

}  // namespace cachetool::pickle
