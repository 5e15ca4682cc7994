#include "torch/json_value.h"

#include <doctest/doctest.h>

#include "base/budget.h"
#include "pickle/document.h"
#include "pickle_text.h"
#include "torch/json_scalar.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

std::string json_of(const std::string& value, const JsonValueOptions& options = {}, bool fields = false) {
  const std::string bytes = pickle_text::pickle(value);
  Budget budget = Budget::for_input(bytes.size());
  const auto document = pickle::parse(bytes, budget);
  REQUIRE(document);
  StringSink sink;
  {
    JsonWriter json(sink);
    if (fields) {
      write_fields(json, document->root(), options);
    } else {
      write_value(json, document->root(), options);
    }
    json.flush();
  }
  return sink.text();
}

constexpr const char* kEmptySha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace

TEST_SUITE_BEGIN("torch/json_value");

TEST_CASE("scalars") {
  CHECK(json_of(none()) == "null");
  CHECK(json_of(boolean(true)) == "true");
  CHECK(json_of(integer(-5)) == "-5");
  CHECK(json_of(integer(INT64_MAX)) == "9223372036854775807");
  CHECK(json_of(integer(INT64_MIN)) == R"({"$int": "-9223372036854775808"})");
  CHECK(json_of("\x8a\x09" + little_endian(0, 8) + "\x01") == R"({"$int": "18446744073709551616"})");
  CHECK(json_of("\x8a\x09" + little_endian(0, 8) + "\xff") == R"({"$int": "-18446744073709551616"})");
  CHECK(json_of(real("1.5")) == "1.5");
  CHECK(json_of(real("nan")) == R"({"$float": "nan"})");
  CHECK(json_of(text("\xc3\xa9")) == R"("\u00e9")");
  CHECK(json_of(bytes("")) == std::string(R"({"$bytes": 0, "sha256": ")") + kEmptySha + "\"}");
  CHECK(json_of(global("torch", "float32")) == R"({"$global": "torch.float32"})");
  CHECK(json_of(call(global("torch", "device"), text("cuda"), integer(0))) == R"("cuda:0")");
  CHECK(json_of(call(global("torch", "device"), text("cpu"))) == R"("cpu")");
  CHECK(json_of(call(global("builtins", "int"), integer(7))) == "7");
}

TEST_CASE("big numbers") {
  CHECK(big_int_text(std::string_view("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10)) ==
        "119547037146038801333356");
  CHECK(big_int_text(std::string(1, '\x80')) == "-128");
  CHECK(big_int_text("") == "0");
  CHECK(big_int_text(std::string(2000, '\0') + "\x01").starts_with("0x01000000"));
}

TEST_CASE("long strings are cut unless asked for in full") {
  const std::string longer(5000, 'a');
  CHECK(json_of(text(longer)).starts_with(R"({"$string": 5000, "sha256": ")"));
  JsonValueOptions options;
  options.full_strings = true;
  CHECK(json_of(text(longer), options) == "\"" + longer + "\"");
  CHECK(json_of(text(std::string(4096, 'a'))).size() == 4098);
}

TEST_CASE("containers") {
  CHECK(json_of(list(integer(1), tuple(), list())) == "[1, [], []]");
  CHECK(json_of(dict(text("b"), integer(1), text("a"), none())) == R"({"b": 1, "a": null})");
  CHECK(json_of(dict(text("b"), integer(1), integer(2), none())) == R"({"$items": [["b", 1], [2, null]]})");
  CHECK(json_of(dict()) == "{}");
  CHECK(json_of(set(text("b"), integer(10), integer(9), text("a"))) == R"(["a", "b", 10, 9])");
  CHECK(json_of(set(tuple(integer(2), text("x")), tuple(integer(1)))) == R"([[1], [2, "x"]])");
  CHECK(json_of(call(global("torch.utils._ordered_set", "OrderedSet"), list(text("b"), text("a")))) ==
        R"(["b", "a"])");
  CHECK(json_of(call(global("builtins", "set"), list(text("b"), text("a")))) == R"(["a", "b"])");
  CHECK(json_of(call(global("collections", "Counter"), dict(text("a"), integer(1)))) == R"({"a": 1})");
  CHECK(json_of(call(global("collections", "OrderedDict")) + text("k") + integer(1) + "s") == R"({"k": 1})");
}

TEST_CASE("sets and dicts that calls make follow Python's equality") {
  CHECK(json_of(call(global("torch.utils._ordered_set", "OrderedSet"),
                     list(integer(1), boolean(true), real("1.0"), text("1"), integer(2), text("1")))) ==
        R"([1, "1", 2])");
  CHECK(json_of(call(global("builtins", "set"), list(tuple(integer(1)), tuple(boolean(true))))) == "[[1]]");
  CHECK(json_of(call(global("builtins", "tuple"), list(integer(1), integer(1)))) == "[1, 1]");
  CHECK(json_of(call(global("collections", "Counter"), dict(text("a"), integer(1), text("b"), integer(1))) +
                text("a") + integer(5) + "s") == R"({"a": 5, "b": 1})");
  CHECK(json_of(call(global("collections", "Counter"), dict(integer(1), integer(1))) + boolean(true) +
                integer(5) + "s") == R"({"$items": [[1, 5]]})");
}

TEST_CASE("instances and calls") {
  CHECK(json_of(instance("m", "C", dict(text("x"), integer(1)))) == R"({"$class": "m.C", "x": 1})");
  CHECK(json_of(call(global("m", "E"), integer(2))) == R"({"$class": "m.E", "$args": [2]})");
  CHECK(json_of(instance("m", "C", integer(3))) == R"({"$class": "m.C", "$state": 3})");
  CHECK(json_of(instance("m", "C", tuple(dict(text("x"), integer(1)), dict(text("y"), integer(2))))) ==
        R"({"$class": "m.C", "x": 1, "y": 2})");
  CHECK(json_of(instance("m", "C", tuple(none(), dict(text("y"), integer(2))))) ==
        R"({"$class": "m.C", "y": 2})");
  CHECK(json_of(instance("m", "C", dict(text("x"), integer(1))) + dict(text("x"), integer(2)) + "b") ==
        R"({"$class": "m.C", "x": 2})");
  CHECK(json_of(call(global("m", "L")) + integer(1) + "a") == R"({"$class": "m.L", "$list": [1]})");
  CHECK(json_of(call(global("m", "D")) + text("k") + integer(1) + "s") ==
        R"({"$class": "m.D", "$pairs": [["k", 1]]})");
  CHECK(json_of(instance("torch._inductor.cudagraph_utils", "PlaceholderInfo",
                         list(text("p"), none(), list(), none()))) ==
        R"({"$class": "torch._inductor.cudagraph_utils.PlaceholderInfo", "name": "p", "stack_trace": null, )"
        R"("users": [], "mutating_use_stack_trace": null})");
  CHECK(json_of(instance("torch._guards", "CompileId", list(integer(0), integer(1)))) ==
        R"({"$class": "torch._guards.CompileId", "$state": [0, 1]})");
}

TEST_CASE("fields are the members without the class") {
  CHECK(json_of(instance("m", "C", dict(text("x"), integer(1))), {}, true) == R"({"x": 1})");
}

TEST_CASE("tensors") {
  const std::string elements(24, '\x01');
  CHECK(
      json_of(tensor(storage("FloatStorage", "cuda:0", 6, elements)))
          .starts_with(
              R"({"$tensor": {"dtype": "float32", "device": "cuda:0", "size": [2, 3], "stride": [3, 1], "storage_offset": 0, )"
              R"("requires_grad": false, "storage_bytes": 24, "storage_sha256": ")"));
  // What can't be read as a tensor is shown as the call that it is.
  CHECK(
      json_of(tensor("nothing")).starts_with(R"({"$class": "torch._utils._rebuild_tensor_v2", "$args": [)"));
}

TEST_CASE("cycles and limits end") {
  // A list that holds itself: EMPTY_LIST, MEMOIZE, BINGET 0, APPEND.
  CHECK(json_of("]\x94h" + std::string(1, '\0') + "a") == R"([{"$cycle": 0}])");
  // Thirty lists, each holding the one before twice: 2^30 nodes when unfolded.
  std::string bomb = "]\x94";
  for (char level = 0; level < 30; ++level) bomb += std::string("](h") + level + "h" + level + "e\x94";
  JsonValueOptions options;
  options.max_nodes = 1000;
  const std::string written = json_of(bomb, options);
  CHECK(written.size() < 20000);
  CHECK(written.find(R"({"$limit": 1000})") != std::string::npos);
  // Deeper than the limit.
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "(";
  deep += "N";
  for (int i = 0; i < 5000; ++i) deep += "l";
  CHECK(json_of(deep).find(R"({"$limit": 250})") != std::string::npos);
}

TEST_SUITE_END();
