#include "replay/wrapper/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "container/python_literal.h"

namespace cachetool::replay::wrapper {
namespace {

struct BinaryLevel {
  std::string_view text;
  int level;  ///< binds tighter the higher it is
  BinaryOp op;
};

constexpr std::array kBinary{
    BinaryLevel{"|", 0, BinaryOp::kOr},          BinaryLevel{"^", 1, BinaryOp::kXor},
    BinaryLevel{"&", 2, BinaryOp::kAnd},         BinaryLevel{"<<", 3, BinaryOp::kShiftLeft},
    BinaryLevel{">>", 3, BinaryOp::kShiftRight}, BinaryLevel{"+", 4, BinaryOp::kAdd},
    BinaryLevel{"-", 4, BinaryOp::kSubtract},    BinaryLevel{"*", 5, BinaryOp::kMultiply},
    BinaryLevel{"/", 5, BinaryOp::kTrueDivide},  BinaryLevel{"//", 5, BinaryOp::kFloorDivide},
    BinaryLevel{"%", 5, BinaryOp::kModulo},
};
constexpr int kLevels = 6;

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons{{
    {"<", Comparison::kLess},
    {"<=", Comparison::kLessEqual},
    {">", Comparison::kGreater},
    {">=", Comparison::kGreaterEqual},
    {"==", Comparison::kEqual},
    {"!=", Comparison::kNotEqual},
}};

// The comparison that comes next and how many tokens it takes.
std::optional<std::pair<Comparison, int>> comparison_at(const TokenStream& tokens) {
  for (const auto& [text, comparison] : kComparisons) {
    if (tokens.is_operator(text)) return std::pair(comparison, 1);
  }
  if (tokens.is_word("in")) return std::pair(Comparison::kIn, 1);
  if (tokens.is_word("not") && tokens.is_word("in", 1)) return std::pair(Comparison::kNotIn, 2);
  if (tokens.is_word("is")) {
    return tokens.is_word("not", 1) ? std::pair(Comparison::kIsNot, 2) : std::pair(Comparison::kIs, 1);
  }
  return std::nullopt;
}

}  // namespace

Status ExpressionParser::enter() {
  if (depth_left_ == 0)
    return fail(ErrorCode::kLimitDepth, fmt::format("nested too deep at line {}", tokens_.position().line),
                {}, tokens_.position().offset);
  --depth_left_;
  return {};
}

Expected<ExpressionId> ExpressionParser::tests() {
  const Position at = tokens_.position();
  auto first = test();
  if (!first || !tokens_.is_operator(",")) return first;
  TupleExpr tuple{{*first}};
  while (tokens_.take_operator(",")) {
    const bool ends = tokens_.is(TokenKind::kNewline) || tokens_.is(TokenKind::kEnd) ||
                      tokens_.is_operator("=") || tokens_.is_operator(")") || tokens_.is_operator("]") ||
                      tokens_.is_operator(":") || tokens_.is_operator(";") || tokens_.is_word("in");
    if (ends) break;
    auto item = test();
    if (!item) return item;
    tuple.items.push_back(*item);
  }
  return add(at, std::move(tuple));
}

Expected<ExpressionId> ExpressionParser::targets() {
  const Position at = tokens_.position();
  TupleExpr tuple;
  bool comma = false;
  do {
    // 'in' ends the targets of a loop, so they are read one level below comparisons.
    auto target = binary(0);
    if (!target) return target;
    if (auto checked = check_target(*target); !checked) return tl::unexpected(checked.error());
    tuple.items.push_back(*target);
    if (!tokens_.take_operator(",")) break;
    comma = true;
  } while (!tokens_.is_word("in") && !tokens_.is_operator("=") && !tokens_.is(TokenKind::kNewline) &&
           !tokens_.is_operator(";"));
  return comma ? add(at, std::move(tuple)) : tuple.items.front();
}

Status ExpressionParser::check_target(ExpressionId id) const {
  std::vector<ExpressionId> open{id};
  while (!open.empty()) {
    const Expression& expression = tree_[open.back()];
    open.pop_back();
    if (const auto* tuple = std::get_if<TupleExpr>(&expression.value)) {
      open.insert(open.end(), tuple->items.begin(), tuple->items.end());
    } else if (const auto* list = std::get_if<ListExpr>(&expression.value)) {
      open.insert(open.end(), list->items.begin(), list->items.end());
    } else if (!std::holds_alternative<NameExpr>(expression.value) &&
               !std::holds_alternative<AttributeExpr>(expression.value) &&
               !std::holds_alternative<SubscriptExpr>(expression.value)) {
      return fail(ErrorCode::kMalformed,
                  fmt::format("something that can't be assigned to at line {}", expression.at.line), {},
                  expression.at.offset);
    }
  }
  return {};
}

Expected<ExpressionId> ExpressionParser::test() {
  if (auto entered = enter(); !entered) return tl::unexpected(entered.error());
  const Position at = tokens_.position();
  auto value = tokens_.is_word("lambda") ? lambda() : or_test();
  if (value && tokens_.is_word("if")) {
    tokens_.next();
    auto condition = or_test();
    if (!condition) return condition;
    if (!tokens_.take_word("else")) return tokens_.unexpected_token("'else'");
    auto otherwise = test();
    if (!otherwise) return otherwise;
    value = add(at, ConditionalExpr{*condition, *value, *otherwise});
  }
  leave();
  return value;
}

Expected<ExpressionId> ExpressionParser::lambda() {
  const Position at = tokens_.next().at;
  LambdaExpr lambda{};
  while (!tokens_.is_operator(":")) {
    auto name = tokens_.expect_name();
    if (!name) return tl::unexpected(name.error());
    lambda.parameters.push_back(*name);
    if (!tokens_.take_operator(",")) break;
  }
  if (auto colon = tokens_.expect_operator(":"); !colon) return tl::unexpected(colon.error());
  auto body = test();
  if (!body) return body;
  lambda.body = *body;
  return add(at, std::move(lambda));
}

Expected<ExpressionId> ExpressionParser::or_test() {
  const Position at = tokens_.position();
  auto first = and_test();
  if (!first || !tokens_.is_word("or")) return first;
  BoolOpExpr expression{BoolOp::kOr, {*first}};
  while (tokens_.take_word("or")) {
    auto operand = and_test();
    if (!operand) return operand;
    expression.operands.push_back(*operand);
  }
  return add(at, std::move(expression));
}

Expected<ExpressionId> ExpressionParser::and_test() {
  const Position at = tokens_.position();
  auto first = not_test();
  if (!first || !tokens_.is_word("and")) return first;
  BoolOpExpr expression{BoolOp::kAnd, {*first}};
  while (tokens_.take_word("and")) {
    auto operand = not_test();
    if (!operand) return operand;
    expression.operands.push_back(*operand);
  }
  return add(at, std::move(expression));
}

Expected<ExpressionId> ExpressionParser::not_test() {
  if (!tokens_.is_word("not")) return comparison();
  if (auto entered = enter(); !entered) return tl::unexpected(entered.error());
  const Position at = tokens_.next().at;
  auto operand = not_test();
  leave();
  if (!operand) return operand;
  return add(at, UnaryExpr{UnaryOp::kNot, *operand});
}

Expected<ExpressionId> ExpressionParser::comparison() {
  const Position at = tokens_.position();
  auto first = binary(0);
  if (!first) return first;
  CompareExpr compare{{*first}, {}};
  while (const auto found = comparison_at(tokens_)) {
    for (int i = 0; i < found->second; ++i) tokens_.next();
    auto operand = binary(0);
    if (!operand) return operand;
    compare.comparisons.push_back(found->first);
    compare.operands.push_back(*operand);
  }
  return compare.comparisons.empty() ? first : add(at, std::move(compare));
}

// Left-associative operators of one level and above.
Expected<ExpressionId> ExpressionParser::binary(int level) {
  if (level == kLevels) return factor();
  const Position at = tokens_.position();
  auto left = binary(level + 1);
  while (left) {
    const auto found = std::find_if(kBinary.begin(), kBinary.end(), [&](const BinaryLevel& candidate) {
      return candidate.level == level && tokens_.is_operator(candidate.text);
    });
    if (found == kBinary.end()) return left;
    tokens_.next();
    auto right = binary(level + 1);
    if (!right) return right;
    left = add(at, BinaryExpr{found->op, *left, *right});
  }
  return left;
}

Expected<ExpressionId> ExpressionParser::factor() {
  // The smallest integer, which random seeds are drawn from, can't be written as the negative of one.
  if (tokens_.is_operator("-") && tokens_.peek(1).text == "9223372036854775808" &&
      !tokens_.is_operator("**", 2)) {
    const Position at = tokens_.next().at;
    tokens_.next();
    return add(at, IntegerExpr{std::numeric_limits<std::int64_t>::min()});
  }
  static constexpr std::array<std::pair<std::string_view, UnaryOp>, 3> kUnary{
      {{"-", UnaryOp::kNegate}, {"+", UnaryOp::kPlus}, {"~", UnaryOp::kInvert}}};
  for (const auto& [text, op] : kUnary) {
    if (!tokens_.is_operator(text)) continue;
    if (auto entered = enter(); !entered) return tl::unexpected(entered.error());
    const Position at = tokens_.next().at;
    auto operand = factor();
    leave();
    if (!operand) return operand;
    return add(at, UnaryExpr{op, *operand});
  }
  return power();
}

Expected<ExpressionId> ExpressionParser::power() {
  const Position at = tokens_.position();
  auto base = primary();
  if (!base || !tokens_.take_operator("**")) return base;
  if (auto entered = enter(); !entered) return tl::unexpected(entered.error());
  auto exponent = factor();
  leave();
  if (!exponent) return exponent;
  return add(at, BinaryExpr{BinaryOp::kPower, *base, *exponent});
}

Expected<ExpressionId> ExpressionParser::primary() {
  auto object = atom();
  return object ? trailers(*object) : object;
}

Expected<ExpressionId> ExpressionParser::trailers(ExpressionId object) {
  for (;;) {
    const Position at = tree_[object].at;
    Expected<ExpressionId> next = object;
    if (tokens_.take_operator(".")) {
      auto name = tokens_.expect_name();
      if (!name) return tl::unexpected(name.error());
      next = add(at, AttributeExpr{object, *name});
    } else if (tokens_.take_operator("(")) {
      next = call(object, at);
    } else if (tokens_.take_operator("[")) {
      next = subscript(object, at);
    } else {
      return object;
    }
    if (!next) return next;
    object = *next;
  }
}

Expected<ExpressionId> ExpressionParser::call(ExpressionId function, Position at) {
  CallExpr call{function, {}, {}};
  while (!tokens_.is_operator(")")) {
    if (tokens_.is_operator("*") || tokens_.is_operator("**"))
      return TokenStream::unsupported("a starred argument", tokens_.position());
    if (tokens_.is(TokenKind::kName) && tokens_.is_operator("=", 1)) {
      auto name = tokens_.expect_name();
      if (!name) return tl::unexpected(name.error());
      tokens_.next();
      auto value = test();
      if (!value) return value;
      call.keywords.push_back({*name, *value});
    } else {
      if (!call.keywords.empty()) return tokens_.unexpected_token("a keyword argument");
      auto value = test();
      if (!value) return value;
      if (tokens_.is_word("for"))
        return TokenStream::unsupported("a generator expression", tokens_.position());
      call.arguments.push_back(*value);
    }
    if (!tokens_.take_operator(",")) break;
  }
  if (auto closed = tokens_.expect_operator(")"); !closed) return tl::unexpected(closed.error());
  return add(at, std::move(call));
}

Expected<ExpressionId> ExpressionParser::subscript(ExpressionId object, Position at) {
  const Position inside = tokens_.position();
  auto index = slice();
  if (!index) return index;
  if (tokens_.is_operator(",")) {
    TupleExpr tuple{{*index}};
    while (tokens_.take_operator(",") && !tokens_.is_operator("]")) {
      auto item = slice();
      if (!item) return item;
      tuple.items.push_back(*item);
    }
    index = add(inside, std::move(tuple));
  }
  if (auto closed = tokens_.expect_operator("]"); !closed) return tl::unexpected(closed.error());
  return add(at, SubscriptExpr{object, *index});
}

Expected<ExpressionId> ExpressionParser::slice() {
  const Position at = tokens_.position();
  SliceExpr slice;
  std::optional<ExpressionId>* const parts[] = {&slice.start, &slice.stop, &slice.step};
  int colons = 0;
  for (std::optional<ExpressionId>* part : parts) {
    if (!tokens_.is_operator(":") && !tokens_.is_operator("]") && !tokens_.is_operator(",")) {
      auto value = test();
      if (!value) return value;
      *part = *value;
    }
    if (colons == 2 || !tokens_.take_operator(":")) break;
    ++colons;
  }
  if (colons > 0) return add(at, slice);
  if (!slice.start) return tokens_.unexpected_token("an index");
  return *slice.start;
}

Expected<ExpressionId> ExpressionParser::atom() {
  const Token& token = tokens_.peek();
  const Position at = token.at;
  switch (token.kind) {
    case TokenKind::kNumber:
      return number();
    case TokenKind::kString:
      return strings();
    case TokenKind::kName:
      if (tokens_.take_word("None")) return add(at, NoneExpr{});
      if (tokens_.take_word("True")) return add(at, BoolExpr{true});
      if (tokens_.take_word("False")) return add(at, BoolExpr{false});
      if (token.text == "await" || token.text == "yield")
        return TokenStream::unsupported(fmt::format("'{}'", token.text), at);
      if (is_keyword(token.text)) return tokens_.unexpected_token("a value");
      return add(at, NameExpr{tokens_.next().text});
    case TokenKind::kOperator:
      if (tokens_.take_operator("(")) return parenthesised(at);
      if (tokens_.take_operator("[")) return list(at);
      if (tokens_.take_operator("{")) return dict(at);
      if (tokens_.take_operator("...")) return add(at, EllipsisExpr{});
      if (token.text == "*" || token.text == "**") return TokenStream::unsupported("a starred value", at);
      break;
    default:
      break;
  }
  return tokens_.unexpected_token("a value");
}

// A value in parentheses, or a tuple.
Expected<ExpressionId> ExpressionParser::parenthesised(Position at) {
  if (tokens_.take_operator(")")) return add(at, TupleExpr{});
  auto first = test();
  if (!first) return first;
  if (tokens_.is_word("for")) return TokenStream::unsupported("a generator expression", tokens_.position());
  if (tokens_.is_operator(":=")) return TokenStream::unsupported("':='", tokens_.position());
  if (tokens_.take_operator(")")) return first;
  TupleExpr tuple{{*first}};
  while (tokens_.take_operator(",") && !tokens_.is_operator(")")) {
    auto item = test();
    if (!item) return item;
    tuple.items.push_back(*item);
  }
  if (auto closed = tokens_.expect_operator(")"); !closed) return tl::unexpected(closed.error());
  return add(at, std::move(tuple));
}

Expected<ExpressionId> ExpressionParser::list(Position at) {
  ListExpr list;
  while (!tokens_.is_operator("]")) {
    auto item = test();
    if (!item) return item;
    if (tokens_.is_word("for")) return TokenStream::unsupported("a list comprehension", tokens_.position());
    list.items.push_back(*item);
    if (!tokens_.take_operator(",")) break;
  }
  if (auto closed = tokens_.expect_operator("]"); !closed) return tl::unexpected(closed.error());
  return add(at, std::move(list));
}

Expected<ExpressionId> ExpressionParser::dict(Position at) {
  DictExpr dict;
  while (!tokens_.is_operator("}")) {
    auto key = test();
    if (!key) return key;
    if (tokens_.is_operator(",") || tokens_.is_operator("}"))
      return TokenStream::unsupported("a set", tokens_.position());
    if (auto colon = tokens_.expect_operator(":"); !colon) return tl::unexpected(colon.error());
    auto value = test();
    if (!value) return value;
    if (tokens_.is_word("for")) return TokenStream::unsupported("a dict comprehension", tokens_.position());
    dict.items.emplace_back(*key, *value);
    if (!tokens_.take_operator(",")) break;
  }
  if (auto closed = tokens_.expect_operator("}"); !closed) return tl::unexpected(closed.error());
  return add(at, std::move(dict));
}

Expected<ExpressionId> ExpressionParser::number() {
  const Token& token = tokens_.next();
  std::string digits(token.text);
  std::erase(digits, '_');
  const char* first = digits.data();
  const char* last = first + digits.size();
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  std::int64_t integer = 0;
  const auto whole = std::from_chars(hexadecimal ? first + 2 : first, last, integer, hexadecimal ? 16 : 10);
  if (whole.ptr == last && whole.ec == std::errc()) return add(token.at, IntegerExpr{integer});
  if (whole.ptr == last && whole.ec == std::errc::result_out_of_range)
    return TokenStream::unsupported("an integer beyond 64 bits", token.at);
  double real = 0;
  const auto [end, error] = std::from_chars(first, last, real);
  if (end != last || error != std::errc())
    return TokenStream::unsupported(fmt::format("the number {}", token.text.substr(0, 40)), token.at);
  return add(token.at, FloatExpr{real});
}

Expected<ExpressionId> ExpressionParser::strings() {
  const Position at = tokens_.position();
  StringExpr string;
  bool first = true;
  while (tokens_.is(TokenKind::kString)) {
    const Token& token = tokens_.next();
    auto literal = container::read_python_string(token.text, 0);
    if (!literal) return tl::unexpected(literal.error());
    if (!first && literal->is_bytes != string.is_bytes)
      return fail(ErrorCode::kMalformed, fmt::format("a string beside bytes at line {}", token.at.line), {},
                  token.at.offset);
    string.is_bytes = literal->is_bytes;
    first ? string.text.swap(literal->text) : static_cast<void>(string.text += literal->text);
    first = false;
  }
  return add(at, std::move(string));
}

}  // namespace cachetool::replay::wrapper
