#include "replay/hints.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::replay;

namespace {

SizeInputs inputs(std::vector<std::string> expressions, bool complete = true) {
  return {std::move(expressions), complete, complete ? "" : "nothing says so"};
}

LookupHints hints(std::string_view list, std::initializer_list<std::string_view> named = {}) {
  LookupHints hints;
  if (list != "-") REQUIRE(hints.add_list(list));
  for (const std::string_view name : named) REQUIRE(hints.add_named(name));
  return hints;
}

// "40 ? 32"
std::string values(const Expected<SizeValues>& bound) {
  if (!bound) return std::string(code_name(bound.error().code)) + ": " + bound.error().message;
  std::string text;
  for (const auto& value : bound->values)
    text += (text.empty() ? "" : " ") + (value ? std::to_string(*value) : "?");
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("replay/hints");

TEST_CASE("by position and by name") {
  CHECK(values(bind_hints(hints("40,32"), inputs({"s77", "s27"}))) == "40 32");
  CHECK(values(bind_hints(hints(" 40 , -1 "), inputs({"s77", "s27"}))) == "40 -1");
  CHECK(values(bind_hints(hints("-", {"s27=32"}), inputs({"s77", "s27"}))) == "? 32");
  CHECK(values(bind_hints(hints("-", {"t1=32", "L['t0']=40"}), inputs({"s77", "s27"}))) == "40 32");
  CHECK(values(bind_hints(hints("40", {"s27=32"}), inputs({"s77", "s27"}))) == "40 32");
  CHECK(values(bind_hints(hints(""), inputs({}))).empty());
}

TEST_CASE("a symbol has one value wherever it is an input") {
  CHECK(values(bind_hints(hints("-", {"s77=5"}), inputs({"s77", "2*s77", "s77"}))) == "5 10 5");
  CHECK(values(bind_hints(hints("5"), inputs({"s77", "2*s77 + 1", "s77"}))) == "5 11 5");
  CHECK(values(bind_hints(hints("-", {"s1=5"}), inputs({"s0 + s1"}))) == "");
  CHECK(values(bind_hints(hints("5,6"), inputs({"s77", "s77"}))) == "usage: s77 cannot be 5 and 6");
  CHECK(values(bind_hints(hints("5,6"), inputs({"s77", "2*s77"}))) ==
        "usage: L['t1'] (2*s77) cannot be 6 and 10");
  CHECK(values(bind_hints(hints("5", {"s77=6"}), inputs({"s77"}))) == "usage: s77 cannot be 5 and 6");
}

TEST_CASE("what fits no input is an error that lists the known ones") {
  const auto wrong = bind_hints(hints("-", {"s0=5"}), inputs({"s77", "s27"}));
  CHECK(values(wrong) == "usage: no size of the graph is called s0");
  CHECK(wrong.error().hint == "known: s77 is L['t0'], s27 is L['t1']");
  CHECK(values(bind_hints(hints("1,2,3"), inputs({"s77", "s27"}))) ==
        "usage: 3 sizes are given, the graph has 2");
  CHECK(values(bind_hints(hints("-", {"t2=1"}), inputs({"s77", "s27"}))) ==
        "usage: no size of the graph is called t2");
  // Where more may follow, positions are free and names are not.
  CHECK(values(bind_hints(hints("1,2,3"), inputs({"s77"}, false))) == "1 2 3");
  CHECK(values(bind_hints(hints("-", {"t2=1"}), inputs({"s77"}, false))) == "? ? 1");
  const auto open = bind_hints(hints("-", {"s1=1"}), inputs({}, false));
  CHECK(values(open) == "usage: no size of the graph is called s1");
  CHECK(open.error().hint == "no symbols are known (nothing says so; t0, t1, … name sizes by position)");
}

TEST_CASE("forms that are refused") {
  LookupHints hints;
  for (const std::string_view list : {",", "1,", "1,,2", "x", "1.5", "99999999999999999999"})
    CHECK_FALSE(hints.add_list(list));
  for (const std::string_view named : {"s77", "=5", "s77=", "s77=x"}) CHECK_FALSE(hints.add_named(named));
  CHECK(hints.empty());
  CHECK(hints.add_named("s77=5"));
  CHECK(hints.add_named("s77=5"));
  CHECK_FALSE(hints.add_named("s77=6"));
  CHECK(hints.add_list("1"));
  CHECK_FALSE(hints.add_list("1"));
  CHECK(values(bind_hints(LookupHints(), inputs({"s77"}))).empty());
  // A position that no graph has.
  LookupHints far;
  REQUIRE(far.add_named("t99999999=1"));
  CHECK_FALSE(bind_hints(far, inputs({}, false)));
}

TEST_SUITE_END();
