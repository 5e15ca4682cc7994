#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cachetool::pickle {

/// An integer as little-endian two's complement, at least one byte.
using IntegerBytes = std::string;

/// Python's int(text, base) for base 0 (prefixes 0x, 0o, 0b) or 10, without a limit on non-decimal digits and
/// with CPython's limit of 4300 on decimal ones (Objects/longobject.c, PyLong_FromString). A NUL ends the
/// text, as in C.
std::optional<IntegerBytes> parse_python_int(std::string_view text, int base);

/// What C's strtol(text, &end, 0) gives, if it uses the text up to its end or a NUL and doesn't overflow.
std::optional<std::int64_t> parse_c_long(std::string_view text);

/// What CPython's PyOS_string_to_double gives, if it uses the text up to its end or a NUL: no blanks around,
/// decimal digits, or a signed inf, infinity or nan in any case. Nothing on overflow.
std::optional<double> parse_python_float(std::string_view text);

}  // namespace cachetool::pickle
