#include "replay/wrapper/token_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cachetool::replay::wrapper {
namespace {

constexpr std::array<std::string_view, 35> kKeywords{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

std::string words_for(const Token& token) {
  switch (token.kind) {
    case TokenKind::kName:
    case TokenKind::kNumber:
    case TokenKind::kOperator:
      return fmt::format("'{}'", token.text.substr(0, 40));
    case TokenKind::kString:
      return "a string";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of a block";
    case TokenKind::kEnd:
      break;
  }
  return "the end of the module";
}

}  // namespace

bool is_keyword(std::string_view name) {
  return std::binary_search(kKeywords.begin(), kKeywords.end(), name);
}

Status TokenStream::expect_operator(std::string_view text) {
  if (take_operator(text)) return {};
  return unexpected_token(fmt::format("'{}'", text));
}

Status TokenStream::expect(TokenKind kind) {
  if (!is(kind)) return unexpected_token(words_for({kind, {}, {}}));
  next();
  return {};
}

Expected<std::string_view> TokenStream::expect_name() {
  if (!is(TokenKind::kName) || is_keyword(peek().text)) return unexpected_token("a name");
  return next().text;
}

tl::unexpected<Error> TokenStream::unexpected_token(std::string_view wanted) const {
  return fail(ErrorCode::kMalformed,
              fmt::format("expected {}, found {} at line {}", wanted, words_for(peek()), peek().at.line), {},
              peek().at.offset);
}

tl::unexpected<Error> TokenStream::unsupported(std::string_view construct, Position at) {
  return fail(ErrorCode::kUnsupported, fmt::format("not executable: {} at line {}", construct, at.line), {},
              at.offset);
}

}  // namespace cachetool::replay::wrapper
