#include "replay/constants.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::dict;
using pickle_text::global;
using pickle_text::integer;
using pickle_text::none;
using pickle_text::text;

// torch/_inductor/output_code.py: CompiledFxGraphConstants, CompiledFxGraphConstantsWithGm.

namespace {

OrRaised<std::vector<BoundConstant>> unwrap(const Decoded& decoded, LoadedBy way,
                                            torch::ReleaseFamily family) {
  return StoredConstants(way).unwrap(*decoded.fx_graph(), *rules_of(family));
}

std::vector<std::string> names(const Decoded& decoded, LoadedBy way, torch::ReleaseFamily family) {
  const auto all = unwrap(decoded, way, family);
  REQUIRE(all);
  std::vector<std::string> result;
  for (const BoundConstant& constant : *all) result.push_back(constant.name);
  return result;
}

GraphBuilder frozen_graph(torch::ReleaseFamily family) {
  GraphBuilder builder(family);
  builder.set("constants", dict(text("c0"), float_tensor(), text("both"), float_tensor()));
  if (family >= k2_7) {
    builder.set("frozen_param_names",
                dict(text("p0"), text("_frozen_param0"), text("both"), text("_frozen_param1")));
  } else {
    builder.set("allocated_constant_name",
                dict(text("p0"), text("_frozen_param0"), text("both"), text("_frozen_param1")));
  }
  return builder;
}

}  // namespace

TEST_SUITE_BEGIN("replay/constants");

TEST_CASE("stored constants come in the dict's order, with their tensors") {
  for (const auto family : kFamilies) {
    GraphBuilder builder(family);
    builder.set("constants", dict(text("z"), float_tensor(), text("a"), float_tensor()));
    const Decoded decoded = decode(builder.pickle());
    for (const LoadedBy way : {LoadedBy::kFxGraphCache, LoadedBy::kAotAutograd}) {
      const auto all = unwrap(decoded, way, family);
      REQUIRE(all);
      REQUIRE(all->size() == 2);
      CHECK((*all)[0].name == "z");
      CHECK((*all)[0].is_tensor);
      CHECK_FALSE((*all)[0].frozen);
      REQUIRE((*all)[0].tensor != nullptr);
      CHECK((*all)[0].tensor->dtype == "float32");
      CHECK((*all)[1].name == "a");
    }
  }
}

TEST_CASE("frozen parameters of the FX cache: 2.6 has only them, later they join and replace by name") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const Decoded decoded = decode(frozen_graph(family).pickle());
    const auto all = unwrap(decoded, LoadedBy::kFxGraphCache, family);
    REQUIRE(all);
    if (family == k2_6) {
      // Under the attribute's own name.
      CHECK(names(decoded, LoadedBy::kFxGraphCache, family) == Lines{"_frozen_param0", "_frozen_param1"});
    } else {
      CHECK(names(decoded, LoadedBy::kFxGraphCache, family) == Lines{"c0", "both", "p0"});
      CHECK_FALSE((*all)[0].frozen);
      CHECK((*all)[1].frozen);
      CHECK((*all)[1].tensor == nullptr);
    }
    // An AOTAutograd entry has no module to take them from.
    CHECK(names(decoded, LoadedBy::kAotAutograd, family) == Lines{"c0", "both"});
  }
}

TEST_CASE("names of frozen parameters and of what they are read from") {
  const Decoded old = decode(frozen_graph(k2_6).pickle());
  const auto of_old = frozen_names(*old.fx_graph());
  REQUIRE(of_old.size() == 2);
  CHECK(of_old[0].name == "_frozen_param0");
  CHECK(of_old[0].attribute == "_frozen_param0");
  const Decoded decoded = decode(frozen_graph(k2_15).pickle());
  const auto frozen = frozen_names(*decoded.fx_graph());
  REQUIRE(frozen.size() == 2);
  CHECK(frozen[0].name == "p0");
  CHECK(frozen[0].attribute == "_frozen_param0");
  const Decoded plain = decode(GraphBuilder(k2_9).pickle());
  CHECK(frozen_names(*plain.fx_graph()).empty());
}

TEST_CASE("what is no tensor: passed on to 2.9, then left out of cudagraphify") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("constants", dict(text("c0"), float_tensor(), text("o"), integer(1)));
    if (family >= k2_10) builder.set("opaque_value_type_classes", dict(text("Size"), global("m", "Size")));
    const Decoded decoded = decode(builder.pickle());
    const auto all = unwrap(decoded, LoadedBy::kAotAutograd, family);
    REQUIRE(all);
    REQUIRE(all->size() == (family >= k2_10 ? 3 : 2));
    CHECK_FALSE((*all)[1].is_tensor);
    if (family >= k2_10) CHECK((*all)[2].name == "Size");
    CHECK(decide(builder, {"cudagraphs=on", "graph_partition=off"}).wraps.at(0).n_constants ==
          (family >= k2_10 ? 1 : 2));
  }
}

TEST_CASE("constants that are None, as 2.6 stores them for frozen graphs") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("constants", none());
    if (family == k2_6) builder.set("allocated_constant_name", dict(text("p0"), text("_frozen_param0")));
    const Decoded decoded = decode(builder.pickle());
    CHECK(unwrap(decoded, LoadedBy::kFxGraphCache, family).has_value());
    const auto raised = unwrap(decoded, LoadedBy::kAotAutograd, family);
    REQUIRE_FALSE(raised);
    CHECK(raised.error().type == "AssertionError");
    CHECK(raised.error().message == (family >= k2_14 ? "g.constants must not be None" : ""));
  }
}

TEST_SUITE_END();
