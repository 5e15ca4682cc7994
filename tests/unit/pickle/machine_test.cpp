#include <doctest/doctest.h>

#include "pickle/document.h"

using namespace cachetool;
using namespace cachetool::pickle;

TEST_SUITE("pickle/machine") {
  TEST_CASE("a dict with shared and nested values") {
    const std::string bytes(
        "\x80\x04\x95\x16\0\0\0\0\0\0\0}\x94(\x8c\x01"
        "a\x94K\x01\x8c\x01"
        "b\x94]\x94(h\x01Neu.",
        33);
    Budget budget = Budget::for_input(bytes.size());
    const auto document = parse(bytes, budget);
    REQUIRE(document);
    CHECK(document->deviations().empty());
    CHECK(document->protocol() == 4);
    const DictNode& dict = document->root().dict();
    REQUIRE(dict.size == 2);
    CHECK(find(dict, "a")->as_int() == 1);
    const auto items = items_of(*find(dict, "b"));
    REQUIRE(items.size() == 2);
    CHECK(identical(items[0], dict.pairs()[0].key));
    CHECK(items[1].is_none());
  }
}
