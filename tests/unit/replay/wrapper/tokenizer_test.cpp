#include <doctest/doctest.h>

#include "replay/wrapper/token.h"

using namespace cachetool;
using namespace cachetool::replay::wrapper;

namespace {

// Kinds and texts in a line: "name:x op:= number:1 newline end".
std::string tokens_of(std::string_view source) {
  const auto tokens = tokenize(source);
  REQUIRE(tokens);
  constexpr const char* kNames[] = {"name", "number", "string", "op", "newline", "indent", "dedent", "end"};
  std::string all;
  for (const Token& token : *tokens) {
    if (!all.empty()) all += ' ';
    all += kNames[static_cast<std::size_t>(token.kind)];
    if (!token.text.empty()) all += ":" + std::string(token.text);
  }
  return all;
}

ErrorCode error_of(std::string_view source, const TokenLimits& limits = {}) {
  const auto tokens = tokenize(source, limits);
  REQUIRE_FALSE(tokens);
  CHECK(tokens.error().offset.value_or(source.size() + 1) <= source.size());
  return tokens.error().code;
}

}  // namespace

TEST_SUITE_BEGIN("replay/wrapper/tokenizer");

TEST_CASE("names, numbers, strings and operators") {
  CHECK(tokens_of("x=1") == "name:x op:= number:1 newline end");
  CHECK(tokens_of("a//=2**-b") == "name:a op://= number:2 op:** op:- name:b newline end");
  CHECK(tokens_of("1.5e-3 0x1F .5 1_0") == "number:1.5e-3 number:0x1F number:.5 number:1_0 newline end");
  CHECK(tokens_of("r'''a\nb''' 'c'") == "string:r'''a\nb''' string:'c' newline end");
  CHECK(tokens_of("x[...]") == "name:x op:[ op:... op:] newline end");
}

TEST_CASE("blank lines and comments are no lines") {
  CHECK(tokens_of("# a comment\n\n   \nx  # another\n   # a third\n") == "name:x newline end");
}

TEST_CASE("lines are joined inside brackets and behind a backslash") {
  CHECK(tokens_of("f(\n  1,  # one\n\n  2)\n") == "name:f op:( number:1 op:, number:2 op:) newline end");
  CHECK(tokens_of("x = \\\n  1\n") == "name:x op:= number:1 newline end");
}

TEST_CASE("indentation opens and closes blocks") {
  CHECK(tokens_of("if a:\n  if b:\n    c\nd\n") ==
        "name:if name:a op:: newline indent name:if name:b op:: newline indent name:c newline dedent dedent "
        "name:d "
        "newline end");
  CHECK(tokens_of("if a:\n  b") == "name:if name:a op:: newline indent name:b newline dedent end");
}

TEST_CASE("positions are those of the source") {
  const auto tokens = tokenize("a\n'''x\ny''' b\r\nc");
  REQUIRE(tokens);
  CHECK((*tokens)[2].at.line == 2);
  CHECK((*tokens)[3].at.line == 3);
  CHECK((*tokens)[3].at.offset == 12);
  CHECK((*tokens)[5].at.line == 4);
}

TEST_CASE("what is no source") {
  CHECK(error_of("x = $") == ErrorCode::kMalformed);
  CHECK(error_of("(]") == ErrorCode::kMalformed);
  CHECK(error_of(")") == ErrorCode::kMalformed);
  CHECK(error_of("f(1,") == ErrorCode::kTruncated);
  CHECK(error_of("'''abc") == ErrorCode::kTruncated);
  CHECK(error_of("x = \\") == ErrorCode::kMalformed);
  CHECK(error_of("x = \\\n") == ErrorCode::kTruncated);
  CHECK(error_of("if a:\n    b\n  c\n") == ErrorCode::kMalformed);
  CHECK(error_of("if a:\n\tb\n") == ErrorCode::kUnsupported);
  CHECK(error_of("f'{x}'") == ErrorCode::kMalformed);
  CHECK(error_of("caf\xc3\xa9 = 1") == ErrorCode::kMalformed);
}

TEST_CASE("limits") {
  TokenLimits limits;
  limits.max_tokens = 10;
  CHECK(error_of("a b c d e f g h i j k l", limits) == ErrorCode::kLimitSize);
  CHECK(error_of(std::string(300, '(')) == ErrorCode::kLimitDepth);
  std::string nested;
  for (int i = 0; i < 150; ++i) nested += std::string(static_cast<std::size_t>(i), ' ') + "if a:\n";
  CHECK(error_of(nested) == ErrorCode::kLimitDepth);
}

TEST_SUITE_END();
