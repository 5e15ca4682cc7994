#include "report/json_path.h"

#include <doctest/doctest.h>

#include "base/json_writer.h"

using namespace cachetool;
using namespace cachetool::report;

namespace {

const char* const kDocument =
    R"({"fx_kwargs": {"static_input_idxs": [1, 2, 30], "graph_id": null}, )"
    R"("constants": {"c0": {"$tensor": {"dtype": "float32", "size": [2, 3]}}, "a.b": "x\"y"}, )"
    R"("map": [[1, "one"], [2, {"dtype": true}]], "last": -1.5})";

std::string at(std::string_view path) {
  const auto parsed = JsonPath::parse(path);
  REQUIRE(parsed);
  JsonPathSink sink(*parsed);
  // In pieces, as a writer hands them over.
  for (const char c : std::string_view(kDocument)) sink.write(std::string_view(&c, 1));
  return sink.found() ? sink.value() : "(none)";
}

}  // namespace

TEST_CASE("a path finds its value, whatever is around it") {
  CHECK(at("fx_kwargs.static_input_idxs") == "[1, 2, 30]");
  CHECK(at("fx_kwargs.static_input_idxs[2]") == "30");
  CHECK(at("fx_kwargs.graph_id") == "null");
  CHECK(at("fx_kwargs") == R"({"static_input_idxs": [1, 2, 30], "graph_id": null})");
  CHECK(at("map[1][1].dtype") == "true");
  CHECK(at("map[0]") == R"([1, "one"])");
  CHECK(at("last") == "-1.5");
  CHECK(at("[\"constants\"][\"a.b\"]") == R"("x\"y")");
}

TEST_CASE("a tensor's wrapping object needn't be named") {
  CHECK(at("constants[\"c0\"].dtype") == "\"float32\"");
  CHECK(at("constants.c0.size[1]") == "3");
  CHECK(at("constants.c0[\"$tensor\"].dtype") == "\"float32\"");
}

TEST_CASE("what isn't there isn't found") {
  for (const char* path :
       {"nothing", "fx_kwargs.nothing", "map[2]", "map.x", "fx_kwargs[0]", "last.x", "dtype"}) {
    CHECK_MESSAGE(at(path) == "(none)", path);
  }
}

TEST_CASE("other texts are no paths") {
  for (const char* path : {"", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[\"b\"", "a.[0]", "a[0]b"}) {
    CHECK_MESSAGE(!JsonPath::parse(path), path);
  }
}

TEST_CASE("a JSON string comes back as text") {
  CHECK(json_to_text(R"("a\nb\u00e9\ud83d\ude00\"")") == "a\nb\xc3\xa9\xf0\x9f\x98\x80\"");
  CHECK(json_to_text("[1, 2]") == "[1, 2]");
  CHECK(json_to_text(R"("\ud800")") == "\xed\xa0\x80");
}
