#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/wrapper/token.h"

namespace cachetool::replay::wrapper {

/// The parser's view of the tokens: what comes next, and errors that name it.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  Position position() const { return peek().at; }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool is_operator(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kOperator && peek(ahead).text == text;
  }
  bool is_word(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kName && peek(ahead).text == text;
  }
  bool take_operator(std::string_view text) { return is_operator(text) && (next(), true); }
  bool take_word(std::string_view text) { return is_word(text) && (next(), true); }

  /// The operator, or kMalformed.
  Status expect_operator(std::string_view text);
  Status expect(TokenKind kind);
  /// An identifier that is no keyword, or kMalformed.
  Expected<std::string_view> expect_name();

  /// "expected ':', found 'x' at line 3"
  tl::unexpected<Error> unexpected_token(std::string_view wanted) const;
  /// "not executable: <construct> at line 3"
  static tl::unexpected<Error> unsupported(std::string_view construct, Position at);

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// True for Python's reserved words, which name nothing.
bool is_keyword(std::string_view name);

}  // namespace cachetool::replay::wrapper
