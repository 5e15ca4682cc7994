#include "replay/guards.h"

#include <doctest/doctest.h>

using namespace cachetool::replay;

// torch/fx/experimental/symbolic_shapes.py: ShapeEnv.evaluate_guards_expression (2.6 to 2.15) evaluates with
// {"L": {"t0": …}} as locals.

namespace {

SizeValues sizes(std::vector<std::optional<std::int64_t>> values, bool complete = true) {
  return {{{"s77", "s27"}, complete, ""}, std::move(values)};
}

std::string answer(std::string_view guards, const SizeValues& values) {
  const GuardAnswer answer = evaluate_guards(guards, values);
  switch (answer.verdict) {
    case GuardVerdict::kTrue:
      return "true";
    case GuardVerdict::kFalse:
      return "false";
    case GuardVerdict::kRaises:
      REQUIRE(answer.raised);
      return "raises " + answer.raised->type;
    case GuardVerdict::kUnknown:
      break;
  }
  return "unknown: " + answer.message;
}

}  // namespace

TEST_SUITE_BEGIN("replay/guards");

TEST_CASE("true and false, with the sizes said") {
  CHECK(answer("2 <= L['t0'] and L['t0'] <= 16 and 2 <= L['t1']", sizes({8, 32})) == "true");
  CHECK(answer("2 <= L['t0'] and L['t0'] <= 16 and 2 <= L['t1']", sizes({40, 32})) == "false");
  CHECK(answer("L['t0']", sizes({0})) == "false");
  CHECK(answer("torch.sym_max(1, L['t0']) != 1 and max(L['t0'], 3) == 3", sizes({3})) == "true");
  CHECK(evaluate_guards("L['t1'] < L['t0']", sizes({40, 32})).message ==
        "with L['t1'] (s27) = 32, L['t0'] (s77) = 40");
}

TEST_CASE("a size that is missing is only missed where Python gets to it") {
  CHECK(answer("L['t0'] <= 8 and L['t1'] > 3", sizes({40})) == "false");
  CHECK(answer("L['t0'] <= 8 and L['t1'] > 3", sizes({5})) == "unknown: no hint for L['t1'] (s27)");
  CHECK(answer("L['t5'] > 3", sizes({5, 6}, false)) == "unknown: no hint for L['t5']");
}

TEST_CASE("what raises in Python") {
  CHECK(answer("L['t5'] > 3", sizes({5, 6})) == "raises KeyError");
  CHECK(answer("s77 > 3", sizes({5, 6})) == "raises NameError");
  CHECK(answer("L['t0'] < 9 or s77 > 3", sizes({5, 6})) == "true");
  CHECK(answer("L['t0'] % (L['t0'] - 5) == 0", sizes({5})) == "raises ZeroDivisionError");
  CHECK(answer("L['t0'] >> (L['t0'] - 6) == 0", sizes({5})) == "raises ValueError");
}

TEST_CASE("what torch never writes is not evaluated") {
  CHECK(answer("__import__('os').system('true')", sizes({5}))
            .starts_with("unknown: the guards are no expression"));
  CHECK(answer("FloorDiv(L['t0'], 2) == 2", sizes({5})) ==
        "unknown: the guards call FloorDiv, which torch's eval doesn't know");
  CHECK(answer("", sizes({5})).starts_with("unknown"));
}

TEST_SUITE_END();
