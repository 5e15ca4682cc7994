#include "replay/post_compile.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using pickle_text::boolean;
using pickle_text::dict;
using pickle_text::global;
using pickle_text::integer;
using pickle_text::list;
using pickle_text::none;
using pickle_text::text;
using pickle_text::tuple;

// What is expected follows torch/_inductor/output_code.py of each release: CompiledFxGraph.post_compile,
// cudagraph_post_compile, cudagraph_partition_post_compile (2.8), maybe_realign_inputs. docs/post-compile.md
// has the same as a table.

namespace {

using enum torch::ReleaseFamily;

// With partitioning off, so that all releases take the same way.
Decision decide_whole(const GraphBuilder& builder, std::string_view more = "cudagraphs=on") {
  return decide(builder, {"graph_partition=off", "cudagraphs=on", more});
}

Decision decide_parts(const GraphBuilder& builder, std::string_view more = "cudagraphs=on") {
  return decide(builder, {"graph_partition=on", "cudagraphs=on", more});
}

void check_quiet(const Decision& decision) {
  CHECK(decision.log.empty());
  CHECK(decision.cudagraph_skips == 0);
  CHECK_FALSE(decision.error);
}

void check_skipped(const Decision& decision, const std::string& message) {
  CHECK(decision.callable == Callable::kPlain);
  CHECK(decision.log == Lines{message});
  CHECK(decision.cudagraph_skips == 1);
  CHECK_FALSE(decision.after.cudagraphs);
  CHECK(decision.realign == Positions{0, 2});
  CHECK(decision.wraps.empty());
  CHECK_FALSE(decision.error);
}

}  // namespace

TEST_SUITE_BEGIN("replay/post_compile");

TEST_CASE("the caller's flag is off: plain and realigned, whatever is stored") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const bool partition : {false, true}) {
      GraphBuilder builder(family);
      builder.reason("sparsity not handled.").fails({"mutated inputs"});
      const Decision decision =
          decide(builder, {"cudagraphs=off", partition ? "graph_partition=on" : "graph_partition=off"});
      CHECK(decision.callable == Callable::kPlain);
      CHECK(decision.outcome == Outcome::kNotAsked);
      check_quiet(decision);
      CHECK(decision.realign == Positions{0, 2});
      CHECK_FALSE(decision.after.cudagraphs);
      CHECK_FALSE(decision.after.forward_device_index.value);
      CHECK(decision.reasons.empty());
    }
  }
}

TEST_CASE("a stored reason is logged behind a prefix of its own, also when it has one") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view partition : {"graph_partition=on", "graph_partition=off"}) {
      GraphBuilder builder(family);
      builder.reason("skipping cudagraphs due to multiple devices: ").fails({"mutated inputs"});
      const Decision decision = decide(builder, {"cudagraphs=on", partition});
      check_skipped(decision, "skipping cudagraphs due to skipping cudagraphs due to multiple devices: ");
      CHECK(decision.outcome == Outcome::kDisabledReason);
      CHECK(decision.reasons == Lines{"skipping cudagraphs due to multiple devices: "});
    }
  }
}

TEST_CASE("a stored reason precedes every assertion") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.reason("r").without_info().backward().set("device_idxs", pickle_text::set());
    const Decision decision = decide(builder, {"cudagraphs=on", "forward_device_index=absent"});
    check_skipped(decision, "skipping cudagraphs due to r");
    CHECK_FALSE(decision.sets_running_backward);
  }
}

TEST_CASE("an empty reason is none") {
  for (const auto family : kFamilies)
    CHECK(decide_whole(GraphBuilder(family).reason("")).callable == Callable::kCudagraph);
}

TEST_CASE("a stored reason of a graph without a GPU is only counted, and no error either") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view device : {"cpu", "meta", "hpu", "tpu"}) {
      GraphBuilder builder(family);
      builder.reason("r").device(device);
      const Decision decision = decide(builder, {"cudagraphs=on", "triton.cudagraph_or_error=on"});
      CHECK(decision.callable == Callable::kPlain);
      CHECK(decision.log.empty());
      CHECK(decision.cudagraph_skips == 1);
      CHECK_FALSE(decision.after.cudagraphs);
      CHECK(decision.realign == Positions{0, 2});
      CHECK_FALSE(decision.error);
    }
  }
}

TEST_CASE("which devices are written about: CUDA, since 2.14 every GPU") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view device : {"xpu", "mps", "mtia"}) {
      GraphBuilder with_reason(family);
      with_reason.reason("r").device(device);
      CHECK(decide_whole(with_reason).log.empty() == (family < k2_14));
      GraphBuilder with_fail(family);
      with_fail.fails({"mutated inputs"}).device(device);
      const Decision decision = decide_whole(with_fail);
      CHECK(decision.log.empty() == (family < k2_14));
      // Row 11: without a GPU fail reasons aren't even counted.
      CHECK(decision.cudagraph_skips == (family < k2_14 ? 0 : 1));
      CHECK_FALSE(decision.after.cudagraphs);
      CHECK(decision.realign == Positions{0, 2});
    }
  }
}

TEST_CASE("fail reasons are logged as Python shows the list") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.fails({"mutated inputs", "non-Tensor inputs"});
    const Decision decision = decide_whole(builder);
    check_skipped(decision, "skipping cudagraphs due to ['mutated inputs', 'non-Tensor inputs']");
    CHECK(decision.outcome == Outcome::kFailReasons);
    CHECK(decision.reasons == Lines{"mutated inputs", "non-Tensor inputs"});
    GraphBuilder quoted(family);
    quoted.fails({"it's\nso"});
    CHECK(decide_whole(quoted).log == Lines{"skipping cudagraphs due to [\"it's\\nso\"]"});
  }
}

TEST_CASE("with partitioning fail reasons and missing partitions switch it off without a word") {
  for (const auto family : kFamilies) {
    if (family < k2_8) continue;
    CAPTURE(torch::family_name(family));
    GraphBuilder failed(family);
    failed.fails({"non-Tensor inputs"});
    GraphBuilder empty(family);
    empty.set("partition_maps", list());
    GraphBuilder absent(family);
    absent.set("partition_maps", none());
    for (const GraphBuilder* builder : {&failed, &empty, &absent}) {
      const Decision decision = decide_parts(*builder, "triton.cudagraph_or_error=on");
      CHECK(decision.callable == Callable::kPlain);
      CHECK(decision.outcome == Outcome::kNoPartition);
      check_quiet(decision);
      CHECK_FALSE(decision.after.cudagraphs);
      CHECK(decision.realign == Positions{0, 2});
      CHECK(decision.reasons.size() == 1);
    }
    CHECK(decide_parts(failed).reasons == Lines{"non-Tensor inputs"});
  }
}

TEST_CASE("a graph that nothing speaks against is wrapped whole, with these arguments") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("mutated_input_idxs", integers({2, 0})).kwarg("static_input_idxs", integers({2, 0, 2}));
    builder.set("constants", dict(text("c0"), float_tensor(), text("c1"), float_tensor()));
    const Decision decision = decide_whole(builder);
    CHECK(decision.callable == Callable::kCudagraph);
    CHECK(decision.outcome == Outcome::kWrapped);
    check_quiet(decision);
    CHECK(decision.realign.empty());
    CHECK(decision.after.cudagraphs);
    CHECK(decision.after.forward_device_index.value == 3);
    REQUIRE(decision.wraps.size() == 1);
    const Wrap& wrap = decision.wraps[0];
    CHECK(wrap.device_index == 3);
    CHECK_FALSE(wrap.is_backward);
    CHECK_FALSE(wrap.is_inference);
    CHECK(wrap.static_input_idxs == Positions{2, 0, 2});
    CHECK(wrap.mutated_input_idxs == Positions{2, 0});
    CHECK(wrap.placeholders == Lines{"arg0_1", "arg1_1", "arg2_1"});
    CHECK(wrap.stack_traces_present == std::vector<bool>{true, false});
    CHECK(wrap.n_constants == 2);
    CHECK_FALSE(wrap.partition);
    CHECK(wrap.kernel_free_cudagraph.has_value() == (family >= k2_14));
    CHECK(wrap.user_visible_output_idxs.has_value() == (family >= k2_14));
    if (family < k2_14) continue;
    CHECK(wrap.user_visible_output_idxs == Positions{1});
    builder.set("kernel_free_cudagraph", boolean(true));
    CHECK(decide_whole(builder).wraps.at(0).kernel_free_cudagraph == true);
  }
}

TEST_CASE("no static inputs at all") {
  for (const auto family : kFamilies) {
    GraphBuilder builder(family);
    builder.kwarg("static_input_idxs", none());
    CHECK(decide_whole(builder).wraps.at(0).static_input_idxs.empty());
    CHECK(decide_parts(builder).wraps.at(0).static_input_idxs.empty());
  }
}

TEST_CASE("only a training forward leaves its device in the box") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CHECK(decide_whole(GraphBuilder(family), "forward_device_index=7").after.forward_device_index.value == 3);
    const Decision inference = decide_whole(GraphBuilder(family).inference(), "forward_device_index=7");
    CHECK(inference.after.forward_device_index.value == 7);
    CHECK(inference.wraps.at(0).is_inference);
    const Decision backward = decide_whole(GraphBuilder(family).backward(), "forward_device_index=7");
    CHECK(backward.after.forward_device_index.value == 7);
    CHECK(backward.wraps.at(0).is_backward);
    CHECK(backward.wraps.at(0).device_index == 3);
    // A forward may come without a box.
    const Decision boxless = decide_whole(GraphBuilder(family), "forward_device_index=absent");
    CHECK(boxless.callable == Callable::kCudagraph);
    CHECK_FALSE(boxless.after.forward_device_index.exists);
  }
}

TEST_CASE("partitions are wrapped in their order; 2.6 and 2.7 have none") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    if (family >= k2_8) {
      builder.set("partition_maps",
                  list(partition(1, integers({0}), list()), partition(4, integers({2}), list()),
                       partition(2, integers({1}), list())));
    }
    builder.set("source_code", text(wrapper(3)));
    const Decision decision = decide_parts(builder);
    check_quiet(decision);
    CHECK(decision.after.cudagraphs);
    CHECK(decision.after.forward_device_index.value == 3);
    CHECK(decision.realign.empty());
    if (family < k2_8) {
      CHECK(decision.callable == Callable::kCudagraph);
      continue;
    }
    CHECK(decision.callable == Callable::kCudagraphPartitions);
    REQUIRE(decision.wraps.size() == 3);
    CHECK(decision.wraps[0].partition == 1);
    CHECK(decision.wraps[1].partition == 4);
    CHECK(decision.wraps[2].partition == 2);
    CHECK(decision.wraps[1].placeholders == Lines{"arg2_1"});
    // zip() in Runner.recursively_apply_fns ends with the shorter of both lists.
    builder.set("source_code", text(wrapper(2)));
    CHECK(decide_parts(builder).wraps.size() == 2);
    builder.set("source_code", text(wrapper(9)));
    CHECK(decide_parts(builder).wraps.size() == 3);
  }
}

TEST_CASE("the bisector, 2.11 on, skips with a message of its own") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view partition : {"graph_partition=on", "graph_partition=off"}) {
      GraphBuilder builder(family);
      builder.fails({"non-Tensor inputs"}).device("cpu");
      const Decision decision = decide(builder, {"cudagraphs=on", partition, "compiler_bisector=on"});
      if (family < k2_11) {
        CHECK(decision.outcome != Outcome::kBisector);
        CHECK(decision.log.empty());
        continue;
      }
      check_skipped(decision, "skipping cudagraphs due to bisector");
      CHECK(decision.outcome == Outcome::kBisector);
    }
  }
}

TEST_CASE("a policy, 2.12 on: counted even where nobody asked, or the graph is wrapped whole") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const bool known = family >= k2_12;
    for (const std::string_view flag : {"cudagraphs=on", "cudagraphs=off"}) {
      GraphBuilder builder(family);
      builder.reason("r");
      const Decision decision = decide(builder, {flag, "cudagraph_policy=no-wrap", "graph_partition=on"});
      CHECK_FALSE(decision.after.cudagraphs);
      CHECK(decision.log.empty() == (known || flag == "cudagraphs=off"));
      CHECK(decision.cudagraph_skips == (known || flag == "cudagraphs=on" ? 1 : 0));
      CHECK((decision.outcome == Outcome::kPolicy) == known);
      CHECK(decision.realign == Positions{0, 2});
    }
    const Decision wrapped = decide_parts(GraphBuilder(family), "cudagraph_policy=wrap");
    CHECK(wrapped.callable ==
          (known || family < k2_8 ? Callable::kCudagraph : Callable::kCudagraphPartitions));
    CHECK(wrapped.cudagraph_skips == 0);
    const Decision failed =
        decide_parts(GraphBuilder(family).fails({"non-Tensor inputs"}), "cudagraph_policy=wrap");
    CHECK(failed.log.size() == (known || family < k2_8 ? 1 : 0));
  }
}

TEST_CASE("a backward that isn't captured tells the forward's manager that it runs") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.backward().fails({"non-Tensor inputs"});
    const Decision told = decide(
        builder, {"cudagraphs=on", "graph_partition=off", "forward_device_index=3", "cudagraph_manager=on"});
    check_skipped(told, "skipping cudagraphs due to ['non-Tensor inputs']");
    CHECK(told.sets_running_backward);
    CHECK(told.after.forward_device_index.value == 3);
    // Without trees there is no manager.
    const Decision alone = decide(builder, {"cudagraphs=on", "graph_partition=off",
                                            "forward_device_index=none", "triton.cudagraph_trees=off"});
    check_skipped(alone, "skipping cudagraphs due to ['non-Tensor inputs']");
    CHECK_FALSE(alone.sets_running_backward);
    if (family < k2_8) continue;
    const Decision silent = decide(
        builder, {"cudagraphs=on", "graph_partition=on", "forward_device_index=3", "cudagraph_manager=on"});
    CHECK(silent.outcome == Outcome::kNoPartition);
    CHECK(silent.sets_running_backward);
    check_quiet(silent);
    if (family < k2_11) continue;
    const Decision bisected = decide(
        builder, {"cudagraphs=on", "compiler_bisector=on", "forward_device_index=3", "cudagraph_manager=on"});
    CHECK(bisected.sets_running_backward);
  }
}

TEST_CASE("without trees symbolic sizes are guarded where the graph is wrapped") {
  for (const auto family : kFamilies) {
    CHECK(decide_whole(GraphBuilder(family), "triton.cudagraph_trees=off").specializes_sizes);
    CHECK(decide_parts(GraphBuilder(family), "triton.cudagraph_trees=off").specializes_sizes);
    CHECK_FALSE(decide_whole(GraphBuilder(family)).specializes_sizes);
    CHECK_FALSE(
        decide_whole(GraphBuilder(family).fails({"x"}), "triton.cudagraph_trees=off").specializes_sizes);
  }
}

TEST_CASE("inputs are realigned unless the flag stays on; 2.12 on may leave the unmutated to the wrapper") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("mutated_input_idxs", integers({2, 1}));
    const Decision all = decide(builder, {"cudagraphs=off"});
    CHECK(all.realign == Positions{0, 2});
    CHECK(all.realign_writes_back == (family >= k2_8));
    builder.set("_defers_input_alignment", boolean(true));
    const Decision deferred = decide(builder, {"cudagraphs=off"});
    CHECK(deferred.realign == (family >= k2_12 ? Positions{2} : Positions{0, 2}));
    builder.set("mutated_input_idxs", integers({1}));
    const Decision unmutated = decide(builder, {"cudagraphs=off"});
    CHECK(unmutated.realign == (family >= k2_12 ? Positions{} : Positions{0, 2}));
    CHECK_FALSE(unmutated.realign_writes_back);
    CHECK(decide_whole(builder).realign.empty());
    builder.set("inputs_to_check", tuple());
    CHECK(decide(builder, {"cudagraphs=off"}).realign.empty());
  }
}

TEST_CASE("an installed partition wrapper, 2.9 on, replaces all of it") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.reason("r");
    const Decision decision = decide_parts(builder, "customized_partition_wrapper=on");
    if (family < k2_9) {
      CHECK(decision.outcome == Outcome::kDisabledReason);
      continue;
    }
    CHECK(decision.callable == Callable::kUnknown);
    CHECK(decision.outcome == Outcome::kCustomWrapper);
    check_quiet(decision);
    CHECK(decision.after.cudagraphs);
    CHECK(decision.realign.empty());
    CHECK(decide_whole(builder, "customized_partition_wrapper=on").outcome == Outcome::kDisabledReason);
  }
}

TEST_CASE("a compiled region is told of, 2.10 on") {
  for (const auto family : kFamilies) {
    GraphBuilder builder(family);
    builder.set("_wrap_compiled_regions", boolean(true));
    CHECK(decide_whole(builder).wraps_compiled_region == (family >= k2_10));
    CHECK_FALSE(decide_whole(GraphBuilder(family)).wraps_compiled_region);
  }
}

TEST_CASE("classes other than CompiledFxGraph") {
  const Rules rules = *rules_of(k2_15);
  const Boxes boxes{true, {true, 5}};
  const StoredConstants constants(LoadedBy::kFxGraphCache);
  for (const std::string_view name : {"CompiledAOTI", "RegionalOutputCode"}) {
    const Decoded decoded =
        decode(pickle_text::pickle(pickle_text::instance("torch._inductor.output_code", name, dict())));
    const Decision decision = replay::decide(*decoded.output_code(), constants, {}, boxes, rules);
    CHECK(decision.callable == Callable::kPlain);
    CHECK(decision.outcome == Outcome::kNoCudagraphCode);
    CHECK(decision.after.cudagraphs);
    CHECK(decision.after.forward_device_index.value == 5);
    check_quiet(decision);
  }
  const torch::OutputCode unknown = torch::UnknownOutputCode{"their.module", "TheirGraph", {}};
  const Decision decision = replay::decide(unknown, constants, {}, boxes, rules);
  CHECK(decision.callable == Callable::kUnknown);
  CHECK(decision.reasons == Lines{"their.module.TheirGraph is no class whose post-compile is known"});
  CHECK(decision.after.cudagraphs);
  const Decoded graph = decode(GraphBuilder(k2_15).pickle());
  const Settings settings = settings_of(*graph.fx_graph(), {"cudagraphs=on"}, k2_15);
  CHECK(replay::decide(*graph.output_code(), constants, settings, boxes, rules).callable ==
        Callable::kCudagraphPartitions);
}

TEST_SUITE_END();
