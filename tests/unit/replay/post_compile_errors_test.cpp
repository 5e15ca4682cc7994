#include <doctest/doctest.h>

#include "graph_builder.h"
#include "replay/post_compile.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using pickle_text::dict;
using pickle_text::integer;
using pickle_text::list;
using pickle_text::none;
using pickle_text::text;

// Where torch raises: the assertions of torch/_inductor/output_code.py, which carry a message since 2.14, and
// what Python raises by itself.

namespace {

using enum torch::ReleaseFamily;

std::string error_of(const Decision& decision) {
  CHECK((decision.callable == Callable::kError) == decision.error.has_value());
  if (!decision.error) return "none";
  CHECK(decision.outcome == Outcome::kRaised);
  CHECK(decision.realign.empty());
  CHECK(decision.wraps.empty());
  return describe(*decision.error);
}

std::string asserts(torch::ReleaseFamily family, const std::string& message) {
  return family >= k2_14 ? "AssertionError: " + message : "AssertionError";
}

}  // namespace

TEST_SUITE_BEGIN("replay/post_compile_errors");

TEST_CASE("cudagraph_or_error, 2.9 on: a stored reason raises before the flag is switched off") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.reason("r");
    const Decision decision = decide(builder, {"cudagraphs=on", "triton.cudagraph_or_error=on"});
    CHECK(decision.log == Lines{"skipping cudagraphs due to r"});
    CHECK(decision.cudagraph_skips == 1);
    CHECK(error_of(decision) == (family >= k2_9 ? "RuntimeError: skipping cudagraphs due to r" : "none"));
    CHECK(decision.after.cudagraphs == (family >= k2_9));
  }
}

TEST_CASE("cudagraph_or_error: fail reasons and the bisector raise after it") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.fails({"x"});
    const Decision failed =
        decide(builder, {"cudagraphs=on", "graph_partition=off", "triton.cudagraph_or_error=on"});
    CHECK(failed.log == Lines{"skipping cudagraphs due to ['x']"});
    CHECK(failed.cudagraph_skips == 1);
    CHECK(error_of(failed) == (family >= k2_9 ? "RuntimeError: skipping cudagraphs due to ['x']" : "none"));
    CHECK_FALSE(failed.after.cudagraphs);
    if (family < k2_11) continue;
    const Decision bisected =
        decide(builder, {"cudagraphs=on", "compiler_bisector=on", "triton.cudagraph_or_error=on"});
    CHECK(error_of(bisected) == "RuntimeError: skipping cudagraphs due to bisector");
    CHECK(bisected.cudagraph_skips == 1);
    CHECK_FALSE(bisected.after.cudagraphs);
  }
}

TEST_CASE("a backward without a box, 2.8 on") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.backward().without_info();
    const Decision decision = decide(builder, {"cudagraphs=on", "forward_device_index=absent"});
    CHECK(error_of(decision) ==
          (family < k2_8 ? "AssertionError"
                         : asserts(family, "Expected 'boxed_forward_device_index' in graph_kwargs")));
    CHECK(decision.error->source.starts_with(family < k2_8 ? "cudagraph_post_compile"
                                                           : "CompiledFxGraph.post_compile"));
    CHECK(decision.after.cudagraphs);
  }
}

TEST_CASE("no cudagraph_info: the graph was compiled with the flag off") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view partition : {"graph_partition=on", "graph_partition=off"}) {
      GraphBuilder builder(family);
      builder.without_info();
      const Decision decision = decide(builder, {"cudagraphs=on", partition});
      CHECK(error_of(decision) == asserts(family, "compiled_graph.cudagraph_info must not be None"));
      CHECK(decision.after.cudagraphs);
      CHECK(decision.cudagraph_skips == 0);
      if (family < k2_11) continue;
      // With partitioning the bisector is asked first.
      const Decision bisected = decide(builder, {"cudagraphs=on", partition, "compiler_bisector=on"});
      CHECK((error_of(bisected) == "none") == (partition == "graph_partition=on"));
    }
  }
}

TEST_CASE("the forward's box and manager, for a backward that isn't captured") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view partition : {"graph_partition=on", "graph_partition=off"}) {
      GraphBuilder builder(family);
      builder.backward().fails({"x"});
      const Decision empty =
          decide(builder, {"cudagraphs=on", partition, "forward_device_index=none", "cudagraph_manager=on"});
      CHECK(error_of(empty) == asserts(family, "boxed_forward_device_index.value must not be None"));
      CHECK_FALSE(empty.after.cudagraphs);
      CHECK(empty.cudagraph_skips == 0);
      const Decision unmanaged = decide(builder, {"cudagraphs=on", partition, "forward_device_index=1"});
      CHECK(error_of(unmanaged) == asserts(family, "CUDAGraph manager must not be None"));
      CHECK_FALSE(unmanaged.sets_running_backward);
      CHECK_FALSE(unmanaged.after.cudagraphs);
      if (family >= k2_8) continue;
      const Decision boxless = decide(builder, {"cudagraphs=on", "forward_device_index=absent"});
      CHECK(error_of(boxless) == "AssertionError");
      CHECK(boxless.error->source.ends_with("boxed_forward_device_index is not None"));
    }
  }
}

TEST_CASE("stack traces that are None, 2.12 on: with a message in all releases") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.info("stack_traces", none());
    const Decision whole = decide(builder, {"cudagraphs=on", "graph_partition=off"});
    CHECK(error_of(whole) ==
          (family < k2_12 ? "none"
                          : "AssertionError: stack_traces should not be None in cudagraph_post_compile"));
    // The box is set behind that.
    CHECK(whole.after.forward_device_index.value.has_value() == (family < k2_12));
    if (family < k2_8) continue;
    const Decision parts = decide(builder, {"cudagraphs=on", "graph_partition=on"});
    CHECK(error_of(parts) ==
          (family < k2_12
               ? "TypeError: 'NoneType' object is not subscriptable"
               : "AssertionError: stack_traces should not be None in cudagraph_partition_post_compile"));
    CHECK(parts.after.forward_device_index.value.has_value() == (family < k2_12));
    CHECK(parts.after.cudagraphs);
  }
}

TEST_CASE("no device index at all") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string_view partition : {"graph_partition=on", "graph_partition=off"}) {
      for (const bool inference : {false, true}) {
        GraphBuilder builder(family);
        builder.set("device_idxs", pickle_text::set());
        if (inference) builder.inference();
        const Decision decision = decide(builder, {"cudagraphs=on", partition, "forward_device_index=2"});
        CHECK(error_of(decision) == "StopIteration");
        CHECK(decision.after.cudagraphs);
        CHECK(decision.after.forward_device_index.value == 2);
      }
    }
  }
}

TEST_CASE("a wrapper module that can't be wrapped in parts") {
  for (const auto family : kFamilies) {
    if (family < k2_8) continue;
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("source_code", text("def call(args):\n    return ()\n"));
    const Decision decision = decide(builder, {"cudagraphs=on", "graph_partition=on"});
    CHECK(error_of(decision) == asserts(family, "compiled_graph.recursively_apply_fns must not be None"));
    CHECK_FALSE(decision.after.forward_device_index.value);
    if (family < k2_9) continue;
    const Decision custom =
        decide(builder, {"cudagraphs=on", "graph_partition=on", "customized_partition_wrapper=on"});
    CHECK(error_of(custom) == asserts(family, "self.recursively_apply_fns must not be None"));
    builder.set("source_code", text("recursively_apply_fns = f\n"));
    const Decision runnerless =
        decide(builder, {"cudagraphs=on", "graph_partition=on", "customized_partition_wrapper=on"});
    CHECK(error_of(runnerless) == asserts(family, "self.compiled_fn_runner must not be None"));
  }
}

TEST_CASE("a partition that names what isn't there; the box was set before") {
  for (const auto family : kFamilies) {
    if (family < k2_8) continue;
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("partition_maps",
                list(partition(0, integers({0}), list()), partition(1, integers({7}), list())));
    const Decision decision = decide(builder, {"cudagraphs=on", "graph_partition=on"});
    CHECK(error_of(decision) == "IndexError: tuple index out of range");
    CHECK(decision.after.forward_device_index.value == 3);
    CHECK(decision.after.cudagraphs);
  }
}

TEST_CASE("constants that are None can't be unwrapped") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("constants", none());
    const Decoded decoded = decode(builder.pickle());
    const Rules rules = *rules_of(family);
    const Settings settings = settings_of(*decoded.fx_graph(), {"cudagraphs=on"}, family);
    const auto decide_by = [&](LoadedBy way) {
      return replay::decide(*decoded.fx_graph(), StoredConstants(way), settings, boxes_of(settings), rules);
    };
    CHECK(error_of(decide_by(LoadedBy::kAotAutograd)) == asserts(family, "g.constants must not be None"));
    // A graph of the FX cache may come without since 2.7.
    CHECK(error_of(decide_by(LoadedBy::kFxGraphCache)) == (family < k2_7 ? "AssertionError" : "none"));
  }
}

TEST_CASE("a field that torch never writes so leaves the decision open") {
  for (const auto family : kFamilies) {
    GraphBuilder builder(family);
    builder.set("inputs_to_check", integer(3));
    const Decision decision = decide(builder, {"cudagraphs=on", "forward_device_index=4"});
    CHECK(decision.callable == Callable::kUnknown);
    CHECK(decision.outcome == Outcome::kUnknown);
    CHECK(decision.reasons == Lines{"inputs_to_check holds what torch never writes there"});
    CHECK(decision.after.cudagraphs);
    CHECK(decision.after.forward_device_index.value == 4);
    CHECK(decision.cudagraph_skips == 0);
  }
}

TEST_SUITE_END();
