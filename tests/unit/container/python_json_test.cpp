#include "container/python_json.h"

#include <doctest/doctest.h>

#include "container/json.h"

using namespace cachetool;
using namespace cachetool::container;

TEST_SUITE_BEGIN("container/python_json");

namespace {

std::string dumped(std::string_view text, std::optional<std::string_view> without = {}) {
  const auto tree = read_json(text, {}, NonFinite::kAllowed);
  REQUIRE(tree);
  return python_json(tree->root(), without);
}

}  // namespace

TEST_CASE("what json.dumps(value, sort_keys=True) writes") {
  // Expected texts are what CPython 3.11 printed.
  CHECK(dumped(R"({"b":[1,2.50,-0,1e100,1E-7],"a":{"z":null,"y":true}})") ==
        R"({"a": {"y": true, "z": null}, "b": [1, 2.5, 0, 1e+100, 1e-07]})");
  CHECK(dumped("[Infinity,-Infinity,NaN]") == "[Infinity, -Infinity, NaN]");
  CHECK(dumped(R"("\u00e9\n\"\\\/\u007f\ud83d\ude00\u0001")") ==
        R"("\u00e9\n\"\\/\u007f\ud83d\ude00\u0001")");
  CHECK(dumped(R"({"a":1,"a":2})") == R"({"a": 2})");
  CHECK(dumped("123456789012345678901234567890") == "123456789012345678901234567890");
  CHECK(dumped("{}") == "{}");
  CHECK(dumped("[[],{}]") == "[[], {}]");
}

TEST_CASE("one member of the outermost object can be left out") {
  CHECK(dumped(R"({"hash":"x","a":{"hash":"y"}})", "hash") == R"({"a": {"hash": "y"}})");
}

TEST_SUITE_END();
