// Which values of a pickle torch would give to eval.

#include <doctest/doctest.h>

#include "unit/pickle/pickle_bytes.h"
#include "verify/scan/pickle_contents.h"

using namespace cachetool;
using pickle::short_text;

namespace {

const std::string kEntry =
    short_text("torch._inductor.output_code") + short_text("CompiledFxGraph") + "\x93)\x81";
const std::string kVersion = short_text("torch.torch_version") + short_text("TorchVersion") + "\x93" +
                             short_text("exec('1')") + "\x85\x81";

std::vector<verify::ExpressionText> expressions(const std::string& field, const std::string& value) {
  static std::string bytes;  // what the views point to
  bytes = "\x80\x04" + kEntry + "}" + short_text(field) + value + "sb.";
  Budget budget = Budget::for_input(bytes.size());
  const auto document = pickle::parse(bytes, budget);
  REQUIRE(document);
  return verify::contents_of(*document, budget).expressions;
}

}  // namespace

TEST_SUITE("verify/scan expressions") {
  TEST_CASE("guards and strides are found, whatever type they have") {
    const auto guard = expressions("guards_expr", short_text("s0 == 1"));
    REQUIRE(guard.size() == 1);
    CHECK(guard[0].text == "s0 == 1");
    CHECK_FALSE(guard[0].is_other);
    CHECK(expressions("guards_expr", "N").empty());
    CHECK(expressions("guards_expr", short_text("")).empty());
    for (const std::string& value :
         {kVersion, std::string("C\x04quit"), std::string("K\x01"), std::string("]")}) {
      const auto other = expressions("fx_graph_guard_expr", value);
      REQUIRE(other.size() == 1);
      CHECK(other[0].is_other);
    }
    CHECK(expressions("output_strides", "](" + short_text("s0") + short_text("1") + "\x86Ne").size() == 2);
    const auto strides = expressions("output_strides", "](" + short_text("1") + kVersion + "\x86" + "e");
    REQUIRE(strides.size() == 2);
    CHECK(strides[0].is_other != strides[1].is_other);
  }

  TEST_CASE("a read-only buffer is looked into like bytes") {
    const std::string hostile = "\x80\x04" + short_text("os") + short_text("system") + "\x93.";
    std::string bytes = pickle::raw("\x80\x05\x96") + pickle::little(hostile.size(), 8) + hostile + "\x98.";
    Budget budget = Budget::for_input(bytes.size());
    const auto document = pickle::parse(bytes, budget);
    REQUIRE(document);
    const auto contents = verify::contents_of(*document, budget);
    REQUIRE(contents.nested.size() == 1);
    CHECK(contents.nested[0].bytes == hostile);
  }
}
