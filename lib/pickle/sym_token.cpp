#include "pickle/sym_token.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cachetool::pickle {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Length of `L['t<digits>']` at the start of `text`, 0 when something else is there.
std::size_t subscript_length(std::string_view text) {
  if (!text.starts_with("L['t")) return 0;
  std::size_t end = 4;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > 4 && text.substr(end).starts_with("']") ? end + 2 : 0;
}

}  // namespace

bool is_sym_symbol(std::string_view name) {
  if (name.empty() || !(name[0] >= 'a' && name[0] <= 'z') || !is_digit(name.back())) return false;
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  for (const char c : name.substr(0, digits)) {
    if (!(c >= 'a' && c <= 'z') && c != '_') return false;
  }
  return true;
}

SymToken SymLexer::take(SymToken::Kind kind, std::size_t length) {
  SymToken token{kind, text_.substr(at_, length), static_cast<std::uint32_t>(at_)};
  at_ += length;
  return token;
}

Expected<SymToken> SymLexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  if (at_ >= text_.size()) return take(SymToken::Kind::kEnd, 0);
  const std::string_view rest = text_.substr(at_);
  if (const std::size_t length = subscript_length(rest)) return take(SymToken::Kind::kSubscript, length);
  if (is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]))) return number();
  if (is_letter(rest[0])) {
    std::size_t end = 1;
    while (end < rest.size() && (is_letter(rest[end]) || is_digit(rest[end]) || rest[end] == '.')) ++end;
    return take(SymToken::Kind::kName, end);
  }
  for (const std::string_view two : {"**", "//", "<=", ">=", "==", "!=", "<<", ">>"}) {
    if (rest.starts_with(two)) return take(SymToken::Kind::kSymbol, 2);
  }
  if (std::string_view("+-*/%<>()&|^,").find(rest[0]) != std::string_view::npos)
    return take(SymToken::Kind::kSymbol, 1);
  return fail(ErrorCode::kMalformed,
              fmt::format("{} isn't part of a guard expression", escape_for_terminal(rest.substr(0, 20))), {},
              at_);
}

Expected<SymToken> SymLexer::number() {
  std::size_t end = at_;
  bool real = false;
  const auto digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  digits();
  if (end < text_.size() && text_[end] == '.') {
    real = true;
    ++end;
    digits();
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    real = true;
    ++end;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    if (end >= text_.size() || !is_digit(text_[end]))
      return fail(ErrorCode::kMalformed, "an exponent without digits", {}, at_);
    digits();
  }
  const bool leading_zero = !real && text_[at_] == '0' && end > at_ + 1;
  const bool glued = end < text_.size() && (is_letter(text_[end]) || text_[end] == '.');
  if (leading_zero || glued) return fail(ErrorCode::kMalformed, "not a decimal number", {}, at_);
  return take(real ? SymToken::Kind::kFloat : SymToken::Kind::kInteger, end - at_);
}

}  // namespace cachetool::pickle
