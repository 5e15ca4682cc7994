#include "replay/guards.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "pickle/sym_expr.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kEvaluator = "ShapeEnv.evaluate_guards_expression";

bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A function called by a bare name that is none of Python's builtins: sympy's printer knows it, torch's eval
// raises NameError where it gets there.
std::string_view foreign_function(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kBuiltins{"min", "max",   "abs", "round",
                                                             "int", "float", "bool"};
  static constexpr std::array<std::string_view, 5> kWords{"and", "or", "not", "if", "else"};
  for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, open - begin);
    if (name.empty() || (begin > 0 && text[begin - 1] == '.')) continue;
    if (std::find(kBuiltins.begin(), kBuiltins.end(), name) != kBuiltins.end()) continue;
    if (std::find(kWords.begin(), kWords.end(), name) != kWords.end()) continue;
    return name;
  }
  return {};
}

// "with L['t0'] (s77) = 40 and L['t1'] (s27) = 32", for what the guards name.
std::string sizes_named(const pickle::SymExpr& guards, const SizeValues& sizes) {
  std::string text;
  for (const std::string& name : guards.free_names()) {
    const auto n = size_position(name);
    const auto value = n ? sizes.value(*n) : std::nullopt;
    if (!value) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "with " : ", ", sizes.label(*n), *value);
  }
  return text;
}

GuardAnswer unknown(std::string message) {
  return {GuardVerdict::kUnknown, std::move(message), std::nullopt};
}

GuardAnswer raises(std::string_view type, std::string message) {
  GuardAnswer answer{
      GuardVerdict::kRaises, {}, Raised{std::string(type), std::move(message), std::string(kEvaluator)}};
  answer.message = "evaluating the guards raises " + describe(*answer.raised);
  return answer;
}

// Python's class of what python_number.h reports as one code.
std::string_view error_type(std::string_view message) {
  if (message.find("division") != std::string_view::npos) return "ZeroDivisionError";
  if (message.find("range") != std::string_view::npos) return "OverflowError";
  return "ValueError";
}

}  // namespace

GuardAnswer evaluate_guards(std::string_view expression, const SizeValues& sizes) {
  const auto guards = pickle::SymExpr::parse(expression);
  if (!guards) return unknown("the guards are no expression that torch writes: " + guards.error().message);
  if (const std::string_view function = foreign_function(expression); !function.empty())
    return unknown(fmt::format("the guards call {}, which torch's eval doesn't know", function));

  std::string missing;
  const auto value = guards->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
    const auto n = size_position(name);
    const auto size = n ? sizes.value(*n) : std::nullopt;
    if (!size) missing = name;
    return size;
  });
  if (value) {
    const GuardVerdict verdict = value->truth() ? GuardVerdict::kTrue : GuardVerdict::kFalse;
    return {verdict, sizes_named(*guards, sizes), std::nullopt};
  }
  switch (value.error().code) {
    case ErrorCode::kNotFound: {
      const auto n = size_position(missing);
      if (!n) return raises("NameError", fmt::format("name '{}' is not defined", missing));
      if (sizes.inputs.complete && *n >= sizes.inputs.expressions.size())
        return raises("KeyError", fmt::format("'t{}'", *n));
      return unknown("no hint for " + sizes.label(*n));
    }
    case ErrorCode::kMalformed:
      return raises(error_type(value.error().message), value.error().message);
    case ErrorCode::kWrongType:
      return raises("TypeError", value.error().message);
    default:
      return unknown("the guards can't be evaluated: " + value.error().message);
  }
}

}  // namespace cachetool::replay
