#include "replay/settings.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::boolean;
using pickle_text::dict;
using pickle_text::integer;
using pickle_text::list;
using pickle_text::none;
using pickle_text::text;

namespace {

// A component of a key as torch writes it into the debug lines.
std::string component(std::string_view path, std::string_view value) {
  return "[" + std::string(51, 'h') + "] " + std::string(path) + ": " + std::string(value);
}

Settings settings(const GraphBuilder& builder, std::initializer_list<std::string_view> assignments = {}) {
  const Decoded decoded = decode(builder.pickle());
  return settings_of(*decoded.fx_graph(), assignments, builder.family());
}

ErrorCode refusal(std::string_view assignment) {
  SettingOverrides overrides;
  const auto added = overrides.add(assignment);
  REQUIRE_FALSE(added);
  CHECK(overrides.empty());
  return added.error().code;
}

}  // namespace

TEST_SUITE_BEGIN("replay/settings");

TEST_CASE("values are on and off in all of Python's and the shell's spellings") {
  const GraphBuilder builder(k2_15);
  for (const std::string_view word : {"on", "true", "True", "YES", "1"})
    CHECK(settings(builder, {"cudagraphs=" + std::string(word)}).cudagraphs.value);
  for (const std::string_view word : {"off", "false", "False", "no", "0"})
    CHECK_FALSE(settings(builder, {"cudagraphs=" + std::string(word)}).cudagraphs.value);
}

TEST_CASE("a later assignment replaces an earlier one; triton.cudagraphs is the flag too") {
  SettingOverrides overrides;
  CHECK(overrides.empty());
  REQUIRE(overrides.add("cudagraphs=on"));
  REQUIRE(overrides.add("triton.cudagraphs=off"));
  CHECK_FALSE(overrides.empty());
  CHECK(overrides.find("cudagraphs") == "off");
  CHECK_FALSE(overrides.find("graph_partition"));
}

TEST_CASE("unknown names list the known ones; values must be of the setting's type") {
  SettingOverrides overrides;
  const auto added = overrides.add("cudagraph_trees=on");
  REQUIRE_FALSE(added);
  CHECK(added.error().code == ErrorCode::kUsage);
  CHECK(added.error().message == "'cudagraph_trees' is no setting of post-compile");
  for (const KnownSetting& known : known_settings())
    CHECK(added.error().hint.find(known.name) != std::string::npos);
  for (const std::string_view bad :
       {"", "=", "cudagraphs", "cudagraphs=", "cudagraphs=2", "cudagraphs=none", "graph_partition=maybe",
        "forward_device_index=-1", "forward_device_index=cuda", "forward_device_index=1x",
        "cudagraph_policy=on", "triton.cudagraph_unexpected_rerecord_limit=none",
        "triton.cudagraph_dynamic_shape_warn_limit=many",
        "triton.cudagraph_capture_sizes=", "forward_device_index=99999999999999999999"}) {
    CAPTURE(bad);
    CHECK(refusal(bad) == ErrorCode::kUsage);
  }
}

TEST_CASE("what the user gives wins over all else") {
  GraphBuilder builder(k2_15);
  const std::string flag = component("fx_kwargs[cudagraphs]", "BoxedBool(value=True)");
  const std::string trees = component("inductor_config[triton.cudagraph_trees]", "True");
  builder.key_lines({flag, trees});
  const Settings got = settings(
      builder,
      {"cudagraphs=off", "graph_partition=off", "triton.cudagraph_trees=off", "triton.cudagraph_or_error=on",
       "forward_device_index=2", "cudagraph_policy=no-wrap", "customized_partition_wrapper=on",
       "compiler_bisector=on", "cudagraph_manager=on", "triton.cudagraph_capture_sizes=(1, 2)",
       "triton.cudagraph_dynamic_shape_warn_limit=none", "triton.cudagraph_dynamic_shape_rerecord_limit=4",
       "triton.cudagraph_unexpected_rerecord_limit=5"});
  CHECK_FALSE(got.cudagraphs.value);
  CHECK_FALSE(got.graph_partition.value);
  CHECK_FALSE(got.cudagraph_trees.value);
  CHECK(got.cudagraph_or_error.value);
  CHECK(got.forward_device_index.value == IndexBox{true, 2});
  CHECK(got.cudagraph_policy.value == CudagraphPolicy::kNoWrap);
  CHECK(got.partition_wrapper.value);
  CHECK(got.bisector.value);
  CHECK(got.cudagraph_manager.value);
  CHECK(got.cudagraph_capture_sizes.value == "(1, 2)");
  CHECK_FALSE(got.dynamic_shape_warn_limit.value);
  CHECK(got.dynamic_shape_rerecord_limit.value == 4);
  CHECK(got.unexpected_rerecord_limit.value == 5);
  for (const SettingOrigin origin :
       {got.cudagraphs.origin, got.graph_partition.origin, got.cudagraph_trees.origin,
        got.cudagraph_or_error.origin, got.forward_device_index.origin, got.cudagraph_policy.origin,
        got.cudagraph_manager.origin, got.cudagraph_capture_sizes.origin,
        got.unexpected_rerecord_limit.origin})
    CHECK(origin == SettingOrigin::kGiven);
  CHECK(settings(builder, {"forward_device_index=absent"}).forward_device_index.value ==
        IndexBox{false, std::nullopt});
  CHECK(settings(builder, {"forward_device_index=None"}).forward_device_index.value == IndexBox{});
}

TEST_CASE("a key tells what its finder has set") {
  GraphBuilder builder(k2_15);
  const std::string lines[] = {
      component("fx_kwargs[cudagraphs]", "BoxedBool(value=False)"),
      component("inductor_config[graph_partition]", "False"),
      component("inductor_config[triton.cudagraph_trees]", "False"),
      component("inductor_config[triton.cudagraph_or_error]", "True"),
      component("inductor_config[triton.cudagraph_dynamic_shape_warn_limit]", "None"),
      component("inductor_config[triton.cudagraph_unexpected_rerecord_limit]", "7"),
      component("inductor_config[triton.cudagraph_capture_sizes]", "(8, 16)"),
  };
  builder.key_lines({lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6]});
  const Settings got = settings(builder);
  CHECK_FALSE(got.cudagraphs.value);
  CHECK_FALSE(got.graph_partition.value);
  CHECK_FALSE(got.cudagraph_trees.value);
  CHECK(got.cudagraph_or_error.value);
  CHECK_FALSE(got.dynamic_shape_warn_limit.value);
  CHECK(got.unexpected_rerecord_limit.value == 7);
  CHECK(got.cudagraph_capture_sizes.value == "(8, 16)");
  for (const SettingOrigin origin :
       {got.cudagraphs.origin, got.graph_partition.origin, got.cudagraph_trees.origin,
        got.cudagraph_or_error.origin, got.dynamic_shape_warn_limit.origin,
        got.unexpected_rerecord_limit.origin, got.cudagraph_capture_sizes.origin})
    CHECK(origin == SettingOrigin::kKey);
  // No part of any key: what the process does besides.
  CHECK(got.forward_device_index.origin == SettingOrigin::kDefault);
  CHECK(got.bisector.origin == SettingOrigin::kDefault);
  // A value of another type than torch's is no answer.
  GraphBuilder odd(k2_15);
  const std::string odd_lines[] = {component("fx_kwargs[cudagraphs]", "BoxedBool(value=7)"),
                                   component("inductor_config[triton.cudagraph_trees]", "perhaps")};
  odd.key_lines({odd_lines[0], odd_lines[1]});
  CHECK(settings(odd).cudagraphs.origin == SettingOrigin::kEntry);
  CHECK(settings(odd).cudagraph_trees.origin == SettingOrigin::kDefault);
}

TEST_CASE("without details of the key the entry itself tells of the flag") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    // The compile switched the stored flag off, and left why.
    GraphBuilder refused(family);
    refused.kwarg("cudagraphs", boolean(false)).reason("r").without_info();
    CHECK(settings(refused).cudagraphs.value);
    CHECK(settings(refused).cudagraphs.origin == SettingOrigin::kEntry);
    GraphBuilder evaluated(family);
    evaluated.kwarg("cudagraphs", boolean(false));
    CHECK(settings(evaluated).cudagraphs.value);
    GraphBuilder unasked(family);
    unasked.kwarg("cudagraphs", boolean(false)).without_info();
    CHECK_FALSE(settings(unasked).cudagraphs.value);
    GraphBuilder boxed(family);
    boxed.without_info().kwarg("cudagraphs", pickle_text::instance("torch._inductor.utils", "BoxedBool",
                                                                   dict(text("value"), boolean(true))));
    CHECK(settings(boxed).cudagraphs.value);
  }
}

TEST_CASE("partitioning: stored partitions, else how the wrapper was written, else the release's default") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const auto known = family >= k2_8 ? SettingOrigin::kEntry : SettingOrigin::kDefault;
    GraphBuilder builder(family);
    builder.without("source_code");
    CHECK(settings(builder).graph_partition.value == (family >= k2_8));
    CHECK(settings(builder).graph_partition.origin == known);
    if (family >= k2_8) builder.set("partition_maps", list());
    CHECK(settings(builder).graph_partition.value == (family >= k2_9));
    CHECK(settings(builder).graph_partition.origin == SettingOrigin::kDefault);
    // 2.6 has no such option and 2.7's isn't looked at.
    CHECK(settings(builder, {"graph_partition=on"}).graph_partition.value == (family >= k2_8));
    builder.set("source_code", text("def call(args):\n    return ()\n"));
    CHECK_FALSE(settings(builder).graph_partition.value);
    CHECK(settings(builder).graph_partition.origin == known);
    builder.set("source_code", text("recursively_apply_fns = runner.recursively_apply_fns\n"));
    CHECK(settings(builder).graph_partition.value == (family >= k2_8));
    CHECK(settings(builder).graph_partition.origin == known);
  }
}

TEST_CASE("the box: the entry's own to 2.7, then an empty one of the caller") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    CHECK(settings(builder).forward_device_index.value == IndexBox{});
    builder.set("boxed_forward_device_index", index_box(integer(1)));
    const Settings got = settings(builder);
    CHECK(got.forward_device_index.value.value.has_value() == (family <= k2_7));
    CHECK(got.forward_device_index.origin ==
          (family <= k2_7 ? SettingOrigin::kEntry : SettingOrigin::kDefault));
    // None: whoever compiled the graph passed no box.
    builder.set("boxed_forward_device_index", pickle_text::none());
    CHECK(settings(builder).forward_device_index.value.exists == (family >= k2_8));
  }
}

TEST_CASE("CUDA graph trees: a reason's wording tells where no key is stored") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("disabled_cudagraphs_reason",
                text("skipping cudagraphs due to mutated inputs (1 instances)"));
    CHECK(settings(builder).cudagraph_trees.value);
    builder.set("disabled_cudagraphs_reason", text("skipping cudagraphs due to mutated inputs"));
    CHECK_FALSE(settings(builder).cudagraph_trees.value);
    CHECK(settings(builder).cudagraph_trees.origin == SettingOrigin::kEntry);
    CHECK(settings(builder, {"triton.cudagraph_trees=on"}).cudagraph_trees.value);
  }
}

TEST_CASE("torch's defaults") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const Settings got = settings(GraphBuilder(family));
    CHECK(got.cudagraph_trees.value);
    CHECK_FALSE(got.cudagraph_or_error.value);
    CHECK(got.cudagraph_policy.value == CudagraphPolicy::kNone);
    CHECK_FALSE(got.partition_wrapper.value);
    CHECK_FALSE(got.bisector.value);
    CHECK_FALSE(got.cudagraph_manager.value);
    CHECK_FALSE(got.cudagraph_capture_sizes.value);
    CHECK(got.dynamic_shape_warn_limit.value == (family >= k2_10 ? 8 : 50));
    CHECK_FALSE(got.dynamic_shape_rerecord_limit.value);
    CHECK(got.unexpected_rerecord_limit.value == 128);
  }
}

TEST_CASE("names of origins") {
  CHECK(origin_name(SettingOrigin::kGiven) == "given");
  CHECK(origin_name(SettingOrigin::kKey) == "key");
  CHECK(origin_name(SettingOrigin::kEntry) == "entry");
  CHECK(origin_name(SettingOrigin::kDefault) == "default");
}

TEST_SUITE_END();
