#include "container/json.h"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::container;

TEST_SUITE("container/json") {
  TEST_CASE("a group file of Triton gives its members by name") {
    const auto tree = read_json(R"({"child_paths": {"k.json": "/c/A/k.json", "k.ptx": "/c/A/k.ptx"}})");
    REQUIRE(tree);
    const auto paths = tree->root().find("child_paths");
    REQUIRE(paths);
    CHECK(paths->size() == 2);
    CHECK(paths->find("k.ptx")->text() == "/c/A/k.ptx");
    CHECK_FALSE(paths->find("k.cubin"));
    CHECK(paths->first()->text() == "k.json");
    CHECK(paths->first()->next()->text() == "/c/A/k.json");
  }

  TEST_CASE("integers stay exact") {
    const auto tree = read_json(
        "[9223372036854775807, -9223372036854775808, 9223372036854775808, "
        "123456789012345678901234567890, 1.50, 1e3]");
    REQUIRE(tree);
    const Node list = tree->root();
    CHECK(list.at(0)->as_integer() == INT64_MAX);
    CHECK(list.at(1)->as_integer() == INT64_MIN);
    CHECK(list.at(2)->kind() == NodeKind::kBigInteger);
    CHECK(list.at(2)->text() == "9223372036854775808");
    CHECK(list.at(3)->kind() == NodeKind::kBigInteger);
    CHECK(list.at(3)->text() == "123456789012345678901234567890");
    CHECK(list.at(4)->kind() == NodeKind::kFloat);
    CHECK(list.at(4)->text() == "1.50");
    CHECK(list.at(4)->as_float() == 1.5);
    CHECK(list.at(5)->as_float() == 1000.0);
    CHECK_FALSE(list.at(6));
  }

  TEST_CASE("duplicate keys are counted and the last one wins") {
    const auto tree = read_json(R"({"a": 1, "b": {"x": 1, "x": 2}, "a": 3})");
    REQUIRE(tree);
    CHECK(tree->duplicate_keys() == 2);
    CHECK(tree->root().find("a")->as_integer() == 3);
    CHECK(tree->root().find("b")->find("x")->as_integer() == 2);
  }

  TEST_CASE("Infinity and NaN only where they are allowed") {
    const std::string text = R"({"t": [[1, 2.5], Infinity, -Infinity, NaN, "Infinity \" NaN", -3e1, null]})";
    const auto strict = read_json(text);
    REQUIRE_FALSE(strict);
    CHECK(strict.error().code == ErrorCode::kMalformed);
    CHECK(strict.error().offset == text.find("Infinity"));
    const auto tree = read_json(text, {}, NonFinite::kAllowed);
    REQUIRE(tree);
    const Node list = *tree->root().find("t");
    CHECK(list.at(0)->at(1)->as_float() == 2.5);
    CHECK(list.at(1)->as_float() == HUGE_VAL);
    CHECK(list.at(2)->as_float() == -HUGE_VAL);
    CHECK(std::isnan(list.at(3)->as_float()));
    CHECK(list.at(4)->text() == "Infinity \" NaN");
    CHECK(list.at(5)->as_float() == -30);
    CHECK(list.at(6)->kind() == NodeKind::kNull);
  }

  TEST_CASE("a non-finite word glued to something else stays an error") {
    for (const char* text :
         {"[1Infinity]", "[Infinity5]", "[xNaN]", "[--Infinity]", "[NaNNaN]", "\"a\"NaN"}) {
      CAPTURE(text);
      CHECK_FALSE(read_json(text, {}, NonFinite::kAllowed));
    }
  }

  TEST_CASE("limits") {
    const std::string deep = std::string(1000, '[') + std::string(1000, ']');
    CHECK(read_json(deep).error().code == ErrorCode::kLimitDepth);
    CHECK(read_json(std::string(1'000'000, '[')).error().code == ErrorCode::kLimitDepth);
    TreeLimits limits;
    limits.max_nodes = 3;
    CHECK(read_json("[1,2]", limits));
    CHECK(read_json("[1,2,3]", limits).error().code == ErrorCode::kLimitMemory);
    limits.max_bytes = 4;
    CHECK(read_json("[1,2]", limits).error().code == ErrorCode::kLimitSize);
  }

  TEST_CASE("errors carry the offset") {
    CHECK(read_json("").error().code == ErrorCode::kTruncated);
    CHECK(read_json("{\"a\": ").error().code == ErrorCode::kTruncated);
    const auto wrong = read_json("{\"a\": x}");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == ErrorCode::kMalformed);
    CHECK(wrong.error().offset == 6u);
    CHECK_FALSE(validate_json("{} {}"));
    CHECK_FALSE(validate_json("[1e999]"));
    CHECK_FALSE(validate_json("\"\xff\""));
    CHECK(validate_json(" {} "));
  }

  TEST_CASE("every cut of a document is an error") {
    const std::string text = R"({"a": [1, true, null, "x\u00e9", {"b": -1.5e3}]})";
    REQUIRE(validate_json(text));
    for (std::size_t length = 0; length < text.size(); ++length) {
      CAPTURE(length);
      CHECK_FALSE(validate_json(text.substr(0, length)));
    }
  }
}

TEST_CASE("a NUL byte is no end of the text") {
  const auto nul_at = [](const std::string& text) {
    const auto tree = read_json(text);
    REQUIRE(!tree);
    CHECK(tree.error().code == ErrorCode::kMalformed);
    return tree.error().offset.value_or(~std::uint64_t{0});
  };
  using namespace std::string_literals;
  CHECK(nul_at("{}\0\0"s) == 2);
  CHECK(nul_at("{\0"s) == 1);
  CHECK(nul_at("\0{}"s) == 0);
  CHECK(nul_at("[x\0"s) == 1);
}
