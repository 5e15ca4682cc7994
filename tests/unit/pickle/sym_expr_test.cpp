#include "pickle/sym_expr.h"

#include <cmath>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

std::optional<std::int64_t> bind(std::string_view name) {
  if (name == "L['t0']" || name == "s0") return 10;
  if (name == "L['t1']" || name == "s27") return -3;
  return {};
}

__extension__ using Unsigned = unsigned __int128;

/// As Python's repr prints it.
std::string shown(const Number& value) {
  switch (value.kind()) {
    case Number::Kind::kBool:
      return value.truth() ? "True" : "False";
    case Number::Kind::kInt: {
      const bool negative = value.as_int() < 0;
      auto rest = negative ? -static_cast<Unsigned>(value.as_int()) : static_cast<Unsigned>(value.as_int());
      std::string digits;
      do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
      } while (rest > 0);
      return negative ? "-" + digits : digits;
    }
    case Number::Kind::kFloat:
      break;
  }
  std::string text = fmt::format("{}", value.as_float());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string evaluated(std::string_view text) {
  const auto expression = SymExpr::parse(text);
  if (!expression) return "parse: " + std::string(code_name(expression.error().code));
  const auto value = expression->evaluate(bind);
  return value ? shown(*value) : "evaluate: " + std::string(code_name(value.error().code));
}

}  // namespace

TEST_SUITE("pickle/sym_expr") {
  TEST_CASE("values are those that CPython computes") {
    const std::pair<const char*, const char*> cases[] = {
        {"7 // 2", "3"},
        {"-7 // 2", "-4"},
        {"7 // -2", "-4"},
        {"-7 // -2", "3"},
        {"7 % 3", "1"},
        {"-7 % 3", "2"},
        {"7 % -3", "-2"},
        {"-7 % -3", "-1"},
        {"7.5 // 2", "3.0"},
        {"-7.5 // 2", "-4.0"},
        {"-7.5 % 2", "0.5"},
        {"7.5 % -2", "-0.5"},
        {"1 / 4", "0.25"},
        {"-7 / 2", "-3.5"},
        {"2 ** 10", "1024"},
        {"2 ** -1", "0.5"},
        {"-2 ** 2", "-4"},
        {"(-2) ** 3", "-8"},
        {"2 ** 3 ** 2", "512"},
        {"2 ** -2 ** 2", "0.0625"},
        {"0.5 ** 2", "0.25"},
        {"1 + 2 * 3 - 4", "3"},
        {"10 - 3 - 2", "5"},
        {"100 // 7 // 2", "7"},
        {"2 * 3 % 4", "2"},
        {"- - 3", "3"},
        {"+True", "1"},
        {"True + True", "2"},
        {"1 < 2 < 3", "True"},
        {"1 < 3 < 2", "False"},
        {"3 > 2 > 1 > 0", "True"},
        {"1 == 1.0", "True"},
        {"1 != 2 == 2", "True"},
        {"not 1 == 2", "True"},
        {"not not 3", "True"},
        {"1 and 2", "2"},
        {"0 and 2", "0"},
        {"0 or 5", "5"},
        {"3 or 1 // 0", "3"},
        {"0 and 1 // 0", "0"},
        {"1 and 0 or 7", "7"},
        {"1 if 2 > 1 else 3", "1"},
        {"1 if 0 else 2 if 0 else 3", "3"},
        {"(1 if 0 else 2) + 10", "12"},
        {"(4 if (1 if 0 else 0) else 5) * 2", "10"},
        {"max(1, 5, 3)", "5"},
        {"min(2, 1.5)", "1.5"},
        {"max(1, 1.0)", "1"},
        {"max(1.0, 1)", "1.0"},
        {"abs(-3)", "3"},
        {"abs(-2.5)", "2.5"},
        {"round(2.5)", "2"},
        {"round(3.5)", "4"},
        {"round(-2.5)", "-2"},
        {"round(2.675, 2)", "2.67"},
        {"round(7, 1)", "7"},
        {"math.floor(-2.5)", "-3"},
        {"math.ceil(2.1)", "3"},
        {"math.trunc(-2.9)", "-2"},
        {"math.sqrt(16)", "4.0"},
        {"math.floor(7)", "7"},
        {"6 & 3", "2"},
        {"6 | 3", "7"},
        {"6 ^ 3", "5"},
        {"True & False", "False"},
        {"1 << 4 + 1", "32"},
        {"-9 >> 1", "-5"},
        {"1 | 2 == 2", "False"},
        {"int(-3.7)", "-3"},
        {"float(3)", "3.0"},
        {"bool(0.0)", "False"},
        {"9223372036854775807 + 1", "9223372036854775808"},
        {"9223372036854775807 * 9223372036854775807", "85070591730234615847396907784232501249"},
        {"9007199254740993 == 9007199254740992.0", "False"},
        {"9007199254740993 > 9007199254740992.0", "True"},
        {"1e308 < 9223372036854775807", "False"},
        {"0.1 + 0.2", "0.30000000000000004"},
        {"1e3", "1000.0"},
        {".5", "0.5"},
        {"5 - -3", "8"},
        {"2 * -3", "-6"},
        {"10 % 4 ** 2", "10"},
        {"math.inf > 5", "True"},
        {"-math.inf < 0", "True"},
        {"math.nan == math.nan", "False"},
        {"math.nan != math.nan", "True"},
        {"math.nan < 1", "False"},
        {"1 <= math.nan", "False"},
        {"math.nan > 1", "False"},
        {"1 >= math.nan", "False"},
    };
    for (const auto& [text, expected] : cases) {
      CAPTURE(std::string(text));
      CHECK(evaluated(text) == expected);
    }
  }

  TEST_CASE("guards and strides that torch wrote") {
    CHECK(evaluated("2 <= L['t0'] and L['t0'] <= 4096") == "True");
    CHECK(evaluated("(L['t0'] % 2) == 0 and (L['t0'] // 2) != L['t0'] and (L['t0'] % (L['t0'] // 2)) == 0") ==
          "True");
    CHECK(evaluated("((1 + L['t1'] + L['t0']) // 2) <= 3") == "False");
    CHECK(evaluated("L['t0']*L['t0'] < 9223372036854775808") == "True");
    CHECK(evaluated("torch.sym_max(1, L['t1']) != 1") == "False");
    CHECK(evaluated("4*s27") == "-12");
    CHECK(evaluated("s27*s0 + s0//s27") == "-34");
    CHECK(evaluated("torch.sym_max(1, 0.5)") == "1.0");
    CHECK(evaluated("torch._sym_sqrt(9)") == "3.0");
    CHECK(evaluated("FloorDiv(-7, 2)") == "-4");
    CHECK(evaluated("CeilDiv(7, 2)") == "4");
    CHECK(evaluated("Max(1, Mod(7, 4), s27)") == "3");
    CHECK(evaluated("IsNonOverlappingAndDenseIndicator(2, 3, 3, 1)") == "1");
    CHECK(evaluated("IsNonOverlappingAndDenseIndicator(2, 3, 4, 1)") == "0");
    CHECK(evaluated("IsNonOverlappingAndDenseIndicator(1, 7)") == "1");
    CHECK(evaluated("cast_symbool_to_symint_guardless(1 < 2)") == "1");
  }

  TEST_CASE("free names, once each and in order") {
    const auto expression = SymExpr::parse("L['t1'] < s27 and L['t12'] != L['t1'] or zuf3 > u0");
    REQUIRE(expression);
    CHECK(expression->free_names() == std::vector<std::string>{"L['t1']", "s27", "L['t12']", "zuf3", "u0"});
    const auto value = expression->evaluate([](std::string_view) { return std::optional<std::int64_t>(1); });
    REQUIRE(value);
    CHECK_FALSE(value->truth());
  }

  TEST_CASE("where Python raises, evaluation fails at that operation") {
    CHECK(evaluated("1 // 0") == "evaluate: data.malformed");
    CHECK(evaluated("1 % 0.0") == "evaluate: data.malformed");
    CHECK(evaluated("1 / 0") == "evaluate: data.malformed");
    CHECK(evaluated("0 ** -1") == "evaluate: data.malformed");
    CHECK(evaluated("(-8) ** 0.5") == "evaluate: data.wrong-type");
    CHECK(evaluated("10.0 ** 400") == "evaluate: data.malformed");
    CHECK(evaluated("math.sqrt(-1)") == "evaluate: data.malformed");
    CHECK(evaluated("math.floor(math.inf)") == "evaluate: data.malformed");
    CHECK(evaluated("1.5 & 1") == "evaluate: data.wrong-type");
    CHECK(evaluated("1 << -1") == "evaluate: data.malformed");
    CHECK(evaluated("L['t7']") == "evaluate: io.not-found");
    const auto expression = SymExpr::parse("1 + (2 // (1 - 1))");
    REQUIRE(expression);
    CHECK(expression->evaluate(bind).error().offset == 7u);
  }

  TEST_CASE("integers that outgrow 127 bits are an error, not a wrong value") {
    CHECK(evaluated("2 ** 126") == "85070591730234615865843651857942052864");
    CHECK(evaluated("2 ** 127") == "evaluate: limit.work");
    CHECK(evaluated("2 ** 9999999999") == "parse: limit.size");
    CHECK(evaluated("1 << 9999999999999") == "parse: limit.size");
    CHECK(evaluated("0 << 99999") == "0");
    CHECK(evaluated("-1 >> 999") == "-1");
    CHECK(evaluated("9223372036854775807 ** 3") == "evaluate: limit.work");
    CHECK(evaluated("999999999999999999999999999999999999999999") == "parse: limit.size");
    CHECK(evaluated("(2 ** 60) / 3") == "evaluate: limit.work");
  }

  TEST_CASE("anything outside the grammar is named with its place") {
    const std::pair<const char*, std::uint64_t> cases[] = {
        {"__import__('os').system('id')", 0},
        {"1 < 2 and exec('x')", 10},
        {"L['t0'].__class__", 7},
        {"L['x0'] > 1", 0},
        {"L['t'] > 1", 0},
        {"L[t0]", 0},
        {"G['t0'] > 1", 0},
        {"math.factorial(9)", 0},
        {"math", 0},
        {"torch.load(1)", 0},
        {"(lambda: 1)()", 1},
        {"[1, 2]", 0},
        {"{1}", 0},
        {"(1, 2)", 2},
        {"x", 0},
        {"1; 2", 1},
        {"s0 = 1", 3},
        {"(s0 := 1)", 4},
        {"1 in s0", 2},
        {"1 is 1", 2},
        {"'a' == 'a'", 0},
        {"~1", 0},
        {"1 + not 2", 4},
        {"01", 0},
        {"0x10", 0},
        {"1_000", 0},
        {"1j", 0},
        {"max(*s0)", 4},
        {"max(1, key=2)", 7},
        {"min(1)", 0},
        {"abs(1, 2)", 0},
        {"# comment", 0},
        {"print(1)", 0},
    };
    for (const auto& [text, offset] : cases) {
      CAPTURE(std::string(text));
      const auto expression = SymExpr::parse(text);
      REQUIRE_FALSE(expression);
      CHECK(expression.error().code == ErrorCode::kMalformed);
      CHECK(expression.error().offset == offset);
    }
  }

  TEST_CASE("cut and deep expressions") {
    for (const char* text : {"", "  ", "1 +", "(1", "max(1,", "1 if 2", "1 if 2 else", "not", "-", "1 <",
                             "2 **", "torch.sym_max"}) {
      CAPTURE(std::string(text));
      const auto expression = SymExpr::parse(text);
      REQUIRE_FALSE(expression);
      CHECK(expression.error().code == ErrorCode::kTruncated);
    }
    CHECK(SymExpr::parse(std::string(100'000, '(')).error().code == ErrorCode::kLimitDepth);
    std::string powers = "1";
    std::string sum = "1";
    std::string choice;
    for (int i = 0; i < 100'000; ++i) {
      powers += "**1";
      sum += "+1";
      choice += "0 if 0 else ";
    }
    CHECK(SymExpr::parse(powers).error().code == ErrorCode::kLimitDepth);
    CHECK(SymExpr::parse(choice + "1").error().code == ErrorCode::kLimitSize);
    CHECK(SymExpr::parse(choice.substr(0, 600'000) + "1").error().code == ErrorCode::kLimitDepth);
    CHECK(evaluated(sum) == "100001");
    CHECK(evaluated(std::string(100, '-') + "1") == "1");
    CHECK(SymExpr::parse(std::string(100'000, '-') + "1").error().code == ErrorCode::kLimitDepth);
  }

  TEST_CASE("values that would keep Python busy are refused") {
    for (const char* text :
         {"9**9**9**9", "9**9**9", "(9**1000)**1000", "1 << 99999999999", "(1 << 999999) * (1 << 999999)",
          "2**(s0*s0)", "LShift(1, 99999999)", "PowByNatural(9, 9**9)", "s0 if 9**9**9 else 1",
          "1 if s0 else 9**9**9", "s0 and 9**9**9", "(s0 or 2**(2**19))**8", "9**(9 if s0 else 9**9)",
          "torch.sym_max(2**(2**19), 1)**4"}) {
      CAPTURE(text);
      const auto expression = SymExpr::parse(text);
      REQUIRE_FALSE(expression);
      CHECK(expression.error().code == ErrorCode::kLimitSize);
    }
    for (const char* text :
         {"2**s0", "s0**s1", "s0**2*s1**2", "2**64", "1 << s0", "10.0**400", "2**(s0 - 1)", "s0//2**10"}) {
      CAPTURE(text);
      CHECK(SymExpr::parse(text).has_value());
    }
  }
}
