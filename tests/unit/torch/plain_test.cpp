#include "torch/plain.h"

#include <doctest/doctest.h>

#include "base/budget.h"
#include "pickle/document.h"
#include "pickle_text.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

struct Parsed {
  std::string bytes;
  pickle::Document document;
  const pickle::Value& root() const { return document.root(); }
};

Parsed parse(const std::string& value) {
  Parsed parsed;
  parsed.bytes = pickle_text::pickle(value);
  Budget budget = Budget::for_input(parsed.bytes.size());
  auto document = pickle::parse_owned(parsed.bytes, budget);
  REQUIRE(document);
  parsed.document = std::move(*document);
  return parsed;
}

}  // namespace

TEST_SUITE_BEGIN("torch/plain");

TEST_CASE("calls that make sequences are seen through") {
  for (const auto& callable : {global("builtins", "set"), global("builtins", "frozenset"),
                               global("torch", "Size"), global("torch.utils._ordered_set", "OrderedSet")}) {
    const Parsed parsed = parse(call(callable, list(integer(1), integer(2))));
    const auto items = sequence_items(parsed.root());
    REQUIRE(items);
    CHECK(items->size() == 2);
  }
  CHECK(sequence_items(parse(call(global("torch", "Size"))).root())->empty());
  CHECK_FALSE(sequence_items(parse(call(global("torch", "size"), list())).root()));
  CHECK_FALSE(sequence_items(parse(call(global("builtins", "set"), text("abc"))).root()));
  CHECK_FALSE(sequence_items(parse(text("abc")).root()));
}

TEST_CASE("calls that make dicts are seen through, later items win") {
  const Parsed counter = parse(call(global("collections", "Counter"), dict(text("a"), integer(1))) + "(" +
                               text("a") + integer(2) + "u");
  const auto pairs = dict_view(counter.root());
  REQUIRE(pairs);
  REQUIRE(find(*pairs, "a") != nullptr);
  CHECK(find(*pairs, "a")->as_int() == 2);
  CHECK(find(*pairs, "b") == nullptr);
  CHECK(dict_view(parse(call(global("collections", "defaultdict"), global("builtins", "list"))).root())
            ->size() == 0);
  CHECK_FALSE(dict_view(parse(call(global("collections", "ChainMap"))).root()));
}

TEST_CASE("an enum member is the number it was made from") {
  CHECK(enum_value(parse(call(global("m", "MutationType"), integer(2))).root()) == 2);
  CHECK_FALSE(enum_value(parse(call(global("m", "MutationType"), text("2"))).root()));
  CHECK_FALSE(enum_value(parse(integer(2)).root()));
}

TEST_CASE("dtypes are named by the last part of their global") {
  CHECK(torch_constant_name(parse(global("torch", "float32")).root()) == "float32");
  CHECK(torch_constant_name(parse(text("torch.float32")).root()).empty());
}

TEST_SUITE_END();
