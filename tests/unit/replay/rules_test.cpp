#include "replay/rules.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using enum torch::ReleaseFamily;

TEST_SUITE_BEGIN("replay/rules");

TEST_CASE("releases whose post-compile wasn't read have no rules") {
  CHECK_FALSE(rules_of(kUnknown));
  CHECK_FALSE(rules_of(k2_4));
  CHECK_FALSE(rules_of(k2_5));
  for (const auto family : graph_builder::kFamilies) {
    REQUIRE(rules_of(family));
    CHECK(rules_of(family)->family == family);
  }
}

TEST_CASE("the release in which each rule came") {
  struct Row {
    bool Rules::* rule;
    torch::ReleaseFamily since;
  };
  // In the sources' order; read in output_code.py, cudagraph_utils.py, codecache.py and config.py of each.
  const Row rows[] = {
      {&Rules::writes_mutated_back, k2_8},
      {&Rules::graph_partition, k2_8},
      {&Rules::guarded_lookup, k2_8},
      {&Rules::post_compile_after_both, k2_8},
      {&Rules::partition_by_default, k2_9},
      {&Rules::cudagraph_or_error, k2_9},
      {&Rules::partition_wrapper, k2_9},
      {&Rules::tensor_constants_only, k2_10},
      {&Rules::wraps_compiled_regions, k2_10},
      {&Rules::bisector, k2_11},
      {&Rules::skips_dot_files, k2_11},  // codecache.py: GuardedCache.iterate_over_candidates
      {&Rules::cudagraph_policy, k2_12},
      {&Rules::asserts_stack_traces, k2_12},
      {&Rules::defers_alignment, k2_12},
      {&Rules::extern_libs_key, k2_12},  // codecache.py: FxGraphCache._lookup_graph
      {&Rules::output_metadata, k2_14},
      {&Rules::any_gpu_type, k2_14},
      {&Rules::assertion_messages, k2_14},
  };
  for (const auto family : graph_builder::kFamilies) {
    CAPTURE(torch::family_name(family));
    const Rules rules = *rules_of(family);
    for (const Row& row : rows) CHECK(rules.*row.rule == (family >= row.since));
    CHECK(rules.index_box_of_entry == (family <= k2_7));
    CHECK(rules.dynamic_shape_warn_limit == (family >= k2_10 ? 8 : 50));
  }
}

TEST_CASE("the family that decides: the exact release, else the newest with all the fields") {
  CHECK(rules_family({k2_10, k2_11, "2.10.0", ""}) == k2_10);
  CHECK(rules_family({k2_10, k2_11, "2.11.0+cu128", ""}) == k2_11);
  CHECK(rules_family({k2_10, k2_11, "", ""}) == k2_11);
  CHECK(rules_family({kUnknown, kUnknown, "", ""}) == kUnknown);
  CHECK(rules_family({k2_9, k2_9, "9.9.0", ""}) == k2_9);
}

TEST_CASE("GPU types") {
  for (const auto family : graph_builder::kFamilies) {
    const Rules rules = *rules_of(family);
    CHECK(counts_as_gpu(rules, "cuda"));
    for (const std::string_view type : {"xpu", "mps", "mtia"})
      CHECK(counts_as_gpu(rules, type) == (family >= k2_14));
    for (const std::string_view type : {"cpu", "meta", "tpu", "hpu", "", "cuda:0"})
      CHECK_FALSE(counts_as_gpu(rules, type));
  }
}

TEST_SUITE_END();
