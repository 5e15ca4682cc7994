#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "container/tree.h"

namespace cachetool::container {

/// One decoded string or bytes literal.
struct PythonString {
  std::string text;  ///< UTF-8 (surrogates encoded like other code points), or the bytes
  bool is_bytes = false;
  std::size_t end = 0;  ///< position just behind the closing quote
};

/// True when a string or bytes literal starts at `position`: an optional prefix (r, u, b and their
/// combinations, in either case; no f-strings) and a quote.
bool starts_python_string(std::string_view source, std::size_t position);

/// Decodes the string or bytes literal that starts at `position` of a Python source text as CPython does:
/// single or triple quotes, escapes (`\N{…}` is kUnsupported), raw strings, line ends of any kind as "\n".
/// One literal only: adjacent ones are the caller's to join. Errors: kMalformed and kTruncated with the
/// offset in `source`. Linear in the literal.
Expected<PythonString> read_python_string(std::string_view source, std::size_t position);

/// Reads one Python literal, the kind that ast.literal_eval accepts: dict, list, tuple, decimal numbers,
/// None, True, False, strings and bytes with adjacent literals joined, parentheses around a value, comments.
/// No sets, no complex numbers, no expressions. vLLM stores its index so
/// (vllm/compilation/compiler_interface.py, 0.9 to 0.33). Errors: kMalformed and kTruncated with the offset,
/// kLimit…. No recursion.
Expected<Tree> read_python_literal(std::string_view text, const TreeLimits& limits = {});

}  // namespace cachetool::container
