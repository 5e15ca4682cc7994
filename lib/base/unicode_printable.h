#pragma once

namespace cachetool {

/// What Python's str.isprintable() says of one code point (CPython 3.11, Objects/unicodectype.c:
/// _PyUnicode_IsPrintable). Surrogates and unassigned code points are not printable.
bool is_python_printable(char32_t code_point);

}  // namespace cachetool
