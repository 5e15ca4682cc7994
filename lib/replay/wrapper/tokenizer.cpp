#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/python_literal.h"
#include "replay/wrapper/token.h"

namespace cachetool::replay::wrapper {
namespace {

constexpr std::array<std::string_view, 44> kOperators{
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "**", "//", ">>", "<<", "<=", ">=", "==", "!=",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "@=", "+",  "-",  "*",  "/",  "%",  "&",
    "|",   "^",   "~",   "<",   ">",   "(",  ")",  "[",  "]",  "{",  "}",  ",",  ":",  "."};
constexpr std::array<std::string_view, 3> kLastOperators{"=", "@", ";"};

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name(char c) {
  return is_name_start(c) || is_digit(c);
}

class Tokenizer {
 public:
  Tokenizer(std::string_view source, const TokenLimits& limits) : source_(source), limits_(limits) {}

  Expected<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      if (at_line_start_ && brackets_.empty()) {
        if (auto done = start_line(); !done) return tl::unexpected(done.error());
        if (at_ >= source_.size()) break;
      }
      if (auto done = step(); !done) return tl::unexpected(done.error());
      if (tokens_.size() > limits_.max_tokens)
        return fail(ErrorCode::kLimitSize, fmt::format("more than {} tokens", limits_.max_tokens), {}, at_);
    }
    if (!brackets_.empty())
      return fail(ErrorCode::kTruncated, "a bracket is never closed", {}, brackets_.back());
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::kNewline) add(TokenKind::kNewline, 0);
    while (indents_.back() > 0) {
      indents_.pop_back();
      add(TokenKind::kDedent, 0);
    }
    add(TokenKind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  // Indentation, unless the line holds nothing.
  Status start_line() {
    std::size_t end = at_;
    while (end < source_.size() && source_[end] == ' ') ++end;
    const char c = end < source_.size() ? source_[end] : '\n';
    if (c == '\t' || c == '\f' || c == '\\')
      return fail(ErrorCode::kUnsupported,
                  fmt::format("not executable: indentation by other than spaces at line {}", line_), {}, end);
    if (c == '\n' || c == '\r' || c == '#') {
      at_ = end;  // blank, or a comment alone: no line of code
      return {};
    }
    const std::size_t width = end - at_;
    at_ = end;
    at_line_start_ = false;
    if (width > indents_.back()) {
      if (indents_.size() >= limits_.max_indents)
        return fail(ErrorCode::kLimitDepth, "too many levels of indentation", {}, at_);
      indents_.push_back(width);
      add(TokenKind::kIndent, 0);
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      add(TokenKind::kDedent, 0);
    }
    if (width != indents_.back())
      return fail(ErrorCode::kMalformed, "the indentation fits no level", {}, at_);
    return {};
  }

  Status step() {
    const char c = source_[at_];
    if (c == ' ' || c == '\t' || c == '\f') return ++at_, Status();
    if (c == '\n' || c == '\r') return end_line();
    if (c == '#') return skip_comment();
    if (c == '\\') return join_lines();
    if (container::starts_python_string(source_, at_)) return take_string();
    if (is_name_start(c)) return take_name();
    if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1])))
      return take_number();
    return take_operator();
  }

  Status end_line() {
    const bool pair = source_[at_] == '\r' && at_ + 1 < source_.size() && source_[at_ + 1] == '\n';
    if (brackets_.empty() && !at_line_start_) {
      add(TokenKind::kNewline, 0);
      at_line_start_ = true;
    }
    at_ += pair ? 2 : 1;
    ++line_;
    return {};
  }

  Status skip_comment() {
    at_ = std::min(source_.find_first_of("\r\n", at_), source_.size());
    return {};
  }

  Status join_lines() {
    std::size_t next = at_ + 1;
    if (next < source_.size() && source_[next] == '\r') ++next;
    if (next < source_.size() && source_[next] == '\n') ++next;
    if (next == at_ + 1) return fail(ErrorCode::kMalformed, "a backslash outside of a string", {}, at_);
    if (next >= source_.size())
      return fail(ErrorCode::kTruncated, "the module ends in a continued line", {}, at_);
    at_ = next;
    ++line_;
    return {};
  }

  Status take_string() {
    const auto literal = container::read_python_string(source_, at_);
    if (!literal) return tl::unexpected(literal.error());
    const std::size_t length = literal->end - at_;
    add(TokenKind::kString, length);
    const std::string_view text = source_.substr(at_, length);
    line_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
    at_ += length;
    return {};
  }

  Status take_name() {
    std::size_t end = at_;
    while (end < source_.size() && is_name(source_[end])) ++end;
    if (end < source_.size() && (source_[end] == '\'' || source_[end] == '"'))
      return fail(ErrorCode::kMalformed, "a string of a kind that wrapper modules don't have", {}, at_);
    add(TokenKind::kName, end - at_);
    at_ = end;
    return {};
  }

  // Digits, letters and points, and a sign behind an exponent: the parser reads the value.
  Status take_number() {
    std::size_t end = at_;
    const bool hexadecimal = source_.substr(at_, 2) == "0x" || source_.substr(at_, 2) == "0X";
    while (end < source_.size()) {
      const char c = source_[end];
      const bool exponent = !hexadecimal && end > at_ && (c == '+' || c == '-') &&
                            (source_[end - 1] == 'e' || source_[end - 1] == 'E');
      if (!is_name(c) && c != '.' && !exponent) break;
      ++end;
    }
    add(TokenKind::kNumber, end - at_);
    at_ = end;
    return {};
  }

  Status take_operator() {
    const std::string_view rest = source_.substr(at_);
    const auto starts = [&](std::string_view text) { return rest.starts_with(text); };
    std::string_view found;
    if (const auto it = std::find_if(kOperators.begin(), kOperators.end(), starts); it != kOperators.end()) {
      found = *it;
    } else if (const auto last = std::find_if(kLastOperators.begin(), kLastOperators.end(), starts);
               last != kLastOperators.end()) {
      found = *last;
    } else {
      return fail(ErrorCode::kMalformed, "a character that starts no token", {}, at_);
    }
    const char c = found.front();
    if (c == '(' || c == '[' || c == '{') {
      if (brackets_.size() >= limits_.max_brackets)
        return fail(ErrorCode::kLimitDepth, "too many open brackets", {}, at_);
      brackets_.push_back(at_);
    } else if (c == ')' || c == ']' || c == '}') {
      constexpr std::string_view kPairs = "()[]{}";
      if (brackets_.empty() || kPairs[kPairs.find(c) - 1] != source_[brackets_.back()])
        return fail(ErrorCode::kMalformed, "a closing bracket without its opening one", {}, at_);
      brackets_.pop_back();
    }
    add(TokenKind::kOperator, found.size());
    at_ += found.size();
    return {};
  }

  void add(TokenKind kind, std::size_t length) {
    tokens_.push_back({kind, source_.substr(at_, length), {line_, static_cast<std::uint32_t>(at_)}});
  }

  std::string_view source_;
  const TokenLimits& limits_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool at_line_start_ = true;
  std::vector<std::size_t> indents_{0};
  std::vector<std::size_t> brackets_;  // offsets of the open ones
  std::vector<Token> tokens_;
};

}  // namespace

Expected<std::vector<Token>> tokenize(std::string_view source, const TokenLimits& limits) {
  if (source.size() > UINT32_MAX) return fail(ErrorCode::kLimitSize, "a module of more than 4 GiB");
  return Tokenizer(source, limits).run();
}

}  // namespace cachetool::replay::wrapper
