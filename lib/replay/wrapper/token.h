#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::replay::wrapper {

/// Where something stands in a wrapper module's text.
struct Position {
  std::uint32_t line = 1;    ///< from 1
  std::uint32_t offset = 0;  ///< bytes from the start of the text
};

enum class TokenKind : std::uint8_t {
  kName,      ///< identifiers and keywords
  kNumber,    ///< as written
  kString,    ///< one literal with prefix and quotes; adjacent ones are tokens of their own
  kOperator,  ///< operators, brackets, ',' ':' '.' '=' '->' '@' ';'
  kNewline,   ///< end of a logical line
  kIndent,
  kDedent,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< in the source; empty for newline, indent, dedent and end
  Position at;
};

struct TokenLimits {
  std::uint32_t max_tokens = 4'000'000;
  std::uint32_t max_indents = 100;
  std::uint32_t max_brackets = 200;  ///< open at once
};

/// Cuts a Python source text into tokens as CPython's tokenizer does for the text of wrapper modules:
/// comments and blank lines dropped, lines joined inside brackets and behind a backslash, indentation by
/// spaces (tabs at the start of a line are refused). ASCII outside of strings and comments. `source` must
/// outlive the tokens. Errors: kMalformed, kTruncated, kLimitSize, kLimitDepth with the offset. Linear.
Expected<std::vector<Token>> tokenize(std::string_view source, const TokenLimits& limits = {});

}  // namespace cachetool::replay::wrapper
