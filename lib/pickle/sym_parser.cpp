// Guard expressions: from text to steps.

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "pickle/sym_expr.h"
#include "pickle/sym_function.h"
#include "pickle/sym_token.h"

namespace cachetool::pickle {

using Token = SymToken;

/// Recursive descent by precedence, its depth counted; emits steps as it goes.
class SymParser {
 public:
  SymParser(std::string_view text, const SymExprLimits& limits) : lexer_(text), limits_(limits) {}

  Expected<SymExpr> run() {
    advance();
    ternary();
    if (!error_ && token_.kind != Token::Kind::kEnd) unexpected();
    if (error_) return tl::unexpected<Error>(*error_);
    if (Status status = result_.check_magnitudes(); !status) return tl::unexpected<Error>(status.error());
    return std::move(result_);
  }

 private:
  using Op = SymExpr::Op;
  using BinaryOp = SymExpr::BinaryOp;
  using Comparison = SymExpr::Comparison;

  // Errors stop the parse: everything below returns at once while `error_` is set, and the token is kEnd.
  void stop(Error error) {
    if (!error_) error_ = std::move(error);
    token_ = {};
  }

  void unexpected() {
    const bool end = token_.kind == Token::Kind::kEnd;
    if (end && error_) return;
    const auto shown = escape_for_terminal(token_.text.substr(0, 60));
    stop({end ? ErrorCode::kTruncated : ErrorCode::kMalformed,
          end ? "the expression ends too early" : fmt::format("{} isn't part of a guard expression", shown),
          {},
          token_.offset,
          {}});
  }

  void advance() {
    if (error_) return;
    auto token = lexer_.next();
    if (token) {
      token_ = *token;
    } else {
      stop(token.error());
    }
  }

  bool at(std::string_view symbol) const {
    return (token_.kind == Token::Kind::kSymbol || token_.kind == Token::Kind::kName) &&
           token_.text == symbol;
  }

  bool accept(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol)) unexpected();
  }

  std::size_t emit(Op op, std::uint32_t offset, std::uint8_t argument = 0) {
    SymExpr::Step step{op, argument, 0, 0, offset};
    result_.steps_.push_back(step);
    return result_.steps_.size() - 1;
  }

  void emit(BinaryOp operation, std::uint32_t offset) {
    emit(Op::kBinary, offset, static_cast<std::uint8_t>(operation));
  }

  std::size_t here() const { return result_.steps_.size(); }

  /// Makes the jump at `from` go to the step that comes next.
  void land(std::size_t from) { result_.steps_[from].target = static_cast<std::int32_t>(here() - from); }

  bool enter() {
    if (error_) return false;
    if (++depth_ <= limits_.max_depth) return true;
    too_deep();
    return false;
  }

  void too_deep() {
    stop({ErrorCode::kLimitDepth,
          fmt::format("nested deeper than {}", limits_.max_depth),
          {},
          token_.offset,
          {}});
  }

  void ternary() {
    if (!enter()) return;
    const std::size_t start = here();
    disjunction();
    const std::uint32_t offset = token_.offset;
    if (accept("if")) {
      const std::size_t condition = here();
      disjunction();
      // Python evaluates the condition first: bring its steps to the front. Jumps are relative, so they stay
      // right.
      auto& steps = result_.steps_;
      const std::size_t condition_size = here() - condition;
      std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(start),
                  steps.begin() + static_cast<std::ptrdiff_t>(condition), steps.end());
      SymExpr::Step jump{Op::kPopJumpIfFalse, 0, 0, 0, offset};
      const std::size_t branch = start + condition_size;
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(branch), jump);
      const std::size_t over = emit(Op::kJump, offset);
      land(branch);
      expect("else");
      ternary();
      land(over);
    }
    --depth_;
  }

  void disjunction() {
    conjunction();
    std::vector<std::size_t> jumps;
    while (at("or")) {
      jumps.push_back(emit(Op::kJumpIfTrueOrPop, token_.offset));
      advance();
      conjunction();
    }
    for (const std::size_t jump : jumps) land(jump);
  }

  void conjunction() {
    inversion();
    std::vector<std::size_t> jumps;
    while (at("and")) {
      jumps.push_back(emit(Op::kJumpIfFalseOrPop, token_.offset));
      advance();
      inversion();
    }
    for (const std::size_t jump : jumps) land(jump);
  }

  void inversion() {
    std::vector<std::uint32_t> offsets;
    while (at("not")) {
      offsets.push_back(token_.offset);
      if (offsets.size() > limits_.max_depth) return too_deep();
      advance();
    }
    comparison();
    for (auto it = offsets.rbegin(); it != offsets.rend(); ++it) emit(Op::kNot, *it);
  }

  void comparison() {
    binary(0);
    std::vector<std::size_t> jumps;
    for (std::optional<Comparison> previous;;) {
      const auto operation = comparison_at();
      if (previous) {
        const bool last = !operation;
        const std::size_t step = emit(last ? Op::kCompare : Op::kCompareChain, previous_offset_,
                                      static_cast<std::uint8_t>(*previous));
        if (last) break;
        jumps.push_back(step);
      }
      if (!operation) break;
      previous = operation;
      const std::uint32_t offset = token_.offset;
      advance();
      binary(0);
      previous_offset_ = offset;
    }
    for (const std::size_t jump : jumps) land(jump);
  }

  std::optional<Comparison> comparison_at() const {
    static constexpr std::pair<std::string_view, Comparison> kSymbols[] = {
        {"<", Comparison::kLess},      {"<=", Comparison::kLessEqual}, {"==", Comparison::kEqual},
        {"!=", Comparison::kNotEqual}, {">", Comparison::kGreater},    {">=", Comparison::kGreaterEqual},
    };
    for (const auto& [symbol, comparison] : kSymbols) {
      if (at(symbol)) return comparison;
    }
    return {};
  }

  /// One level of left-associative operators; `level` 0 binds loosest.
  void binary(std::size_t level) {
    struct Operator {
      std::string_view symbol;
      std::size_t level;
      BinaryOp operation;
    };
    static constexpr Operator kOperators[] = {
        {"|", 0, BinaryOp::kOr},           {"^", 1, BinaryOp::kXor},         {"&", 2, BinaryOp::kAnd},
        {"<<", 3, BinaryOp::kShiftLeft},   {">>", 3, BinaryOp::kShiftRight}, {"+", 4, BinaryOp::kAdd},
        {"-", 4, BinaryOp::kSubtract},     {"*", 5, BinaryOp::kMultiply},    {"/", 5, BinaryOp::kTrueDivide},
        {"//", 5, BinaryOp::kFloorDivide}, {"%", 5, BinaryOp::kModulo},
    };
    constexpr std::size_t kLevels = 6;
    if (level == kLevels) return unary();
    binary(level + 1);
    while (!error_) {
      const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                       [&](const Operator& o) { return o.level == level && at(o.symbol); });
      if (found == std::end(kOperators)) return;
      const std::uint32_t offset = token_.offset;
      advance();
      binary(level + 1);
      emit(found->operation, offset);
    }
  }

  void unary() {
    struct Prefix {
      Op op;
      std::uint32_t offset;
    };
    std::vector<Prefix> prefixes;
    while (at("-") || at("+")) {
      prefixes.push_back({at("-") ? Op::kNegate : Op::kPlus, token_.offset});
      if (prefixes.size() > limits_.max_depth) return too_deep();
      advance();
    }
    power();
    for (auto it = prefixes.rbegin(); it != prefixes.rend(); ++it) emit(it->op, it->offset);
  }

  /// Binds tighter than a minus on its left, looser than one on its right.
  void power() {
    atom();
    if (!at("**")) return;
    const std::uint32_t offset = token_.offset;
    if (!enter()) return;
    advance();
    unary();
    emit(BinaryOp::kPower, offset);
    --depth_;
  }

  void atom() {
    const Token token = token_;
    switch (token.kind) {
      case Token::Kind::kInteger:
        return integer(token);
      case Token::Kind::kFloat:
        return real(token);
      case Token::Kind::kSubscript:
        return variable(token);
      case Token::Kind::kName:
        return name(token);
      case Token::Kind::kSymbol:
        if (token.text == "(") {
          advance();
          ternary();
          return expect(")");
        }
        break;
      case Token::Kind::kEnd:
        break;
    }
    unexpected();
  }

  void push(Number value, std::uint32_t offset) {
    result_.numbers_.push_back(value);
    const std::size_t step = emit(Op::kPush, offset);
    result_.steps_[step].target = static_cast<std::int32_t>(result_.numbers_.size() - 1);
    advance();
  }

  void integer(const Token& token) {
    Int128 value = 0;
    for (const char c : token.text) {
      if (__builtin_mul_overflow(value, Int128{10}, &value) ||
          __builtin_add_overflow(value, Int128{c - '0'}, &value)) {
        return stop({ErrorCode::kLimitSize, "an integer of more than 127 bits", {}, token.offset, {}});
      }
    }
    push(Number::integer(value), token.offset);
  }

  void real(const Token& token) {
    double value = 0;
    const auto result = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (result.ec != std::errc{}) return unexpected();
    push(Number::real(value), token.offset);
  }

  void variable(const Token& token) {
    const auto [found, fresh] =
        positions_.try_emplace(token.text, static_cast<std::int32_t>(result_.names_.size()));
    if (fresh) result_.names_.emplace_back(token.text);
    const std::size_t step = emit(Op::kLoad, token.offset);
    result_.steps_[step].target = found->second;
    advance();
  }

  void name(const Token& token) {
    if (token.text == "True" || token.text == "False")
      return push(Number::boolean(token.text == "True"), token.offset);
    if (token.text == "math.inf")
      return push(Number::real(std::numeric_limits<double>::infinity()), token.offset);
    if (token.text == "math.nan")
      return push(Number::real(std::numeric_limits<double>::quiet_NaN()), token.offset);
    if (is_sym_symbol(token.text)) return variable(token);
    const auto functions = sym_functions();
    const auto found =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == token.text; });
    if (found == functions.end()) return unexpected();
    call(token, *found, static_cast<std::uint8_t>(found - functions.begin()));
  }

  void call(const Token& token, const SymFunction& function, std::uint8_t index) {
    advance();
    expect("(");
    std::uint16_t count = 0;
    while (!error_ && !at(")")) {
      if (count > 0) expect(",");
      if (at(")")) break;
      ternary();
      if (++count > kMaxArguments) {
        return stop({ErrorCode::kLimitSize, "a call with too many arguments", {}, token.offset, {}});
      }
    }
    expect(")");
    if (error_) return;
    if (count < function.min_arguments || (function.max_arguments != 255 && count > function.max_arguments)) {
      return stop({ErrorCode::kMalformed,
                   fmt::format("{} with {} arguments", function.name, count),
                   {},
                   token.offset,
                   {}});
    }
    const std::size_t step = emit(Op::kCall, token.offset, index);
    result_.steps_[step].count = count;
  }

  static constexpr std::uint16_t kMaxArguments = 1024;

  SymLexer lexer_;
  SymExprLimits limits_;
  Token token_;
  std::uint32_t depth_ = 0;
  std::uint32_t previous_offset_ = 0;
  std::unordered_map<std::string_view, std::int32_t> positions_;  // of names; views into the expression
  std::optional<Error> error_;
  SymExpr result_;
};

Expected<SymExpr> SymExpr::parse(std::string_view text, const SymExprLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::kLimitSize,
                fmt::format("a guard expression of more than {} bytes", limits.max_bytes));
  }
  return SymParser(text, limits).run();
}

}  // namespace cachetool::pickle
