#include "replay/run_time.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using namespace pickle_text;
using enum torch::ReleaseFamily;

namespace {

std::vector<RunTimeNote> notes(const GraphBuilder& builder,
                               std::initializer_list<std::string_view> assignments = {}) {
  const Decoded decoded = decode(builder.pickle());
  const CompiledFxGraph& graph = *decoded.fx_graph();
  const Rules rules = *rules_of(builder.family());
  const Settings settings = settings_for(graph, given(assignments), rules);
  const StoredConstants constants(LoadedBy::kFxGraphCache);
  const Decision decision = decide(graph, constants, settings, boxes_of(settings), rules);
  return run_time_notes(graph, decision, settings, rules);
}

Lines ids(const std::vector<RunTimeNote>& found) {
  Lines ids;
  for (const RunTimeNote& note : found) ids.push_back(note.id);
  return ids;
}

std::string text_of(const std::vector<RunTimeNote>& found, std::string_view id) {
  for (const RunTimeNote& note : found) {
    if (note.id == id) return note.text;
  }
  return "no such note";
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Takes a size as its first input.
GraphBuilder dynamic(ReleaseFamily family) {
  GraphBuilder graph(family);
  graph.set("source_code",
            text("def call(args):\n    arg0_1, arg1_1, arg2_1 = args\n    args.clear()\n    s7 = arg0_1\n" +
                 wrapper(1)));
  return graph;
}

GraphBuilder mutating(ReleaseFamily family, const std::string& trace = none()) {
  GraphBuilder graph(family);
  graph.set("mutated_input_idxs", pickle_text::set(integer(1) + integer(2)));
  std::string placeholders;
  for (const char* name : {"arg0_1", "arg1_1", "arg2_1"})
    placeholders += instance("torch._inductor.cudagraph_utils", "PlaceholderInfo",
                             dict(text("name"), text(name), text("stack_trace"), none(), text("users"),
                                  list(), text("mutating_use_stack_trace"), trace));
  graph.info("placeholders", tuple(placeholders));
  return graph;
}

}  // namespace

TEST_SUITE_BEGIN("replay/run_time");

TEST_CASE("nothing is left open without CUDA graphs") {
  CHECK(notes(GraphBuilder(k2_15), {"cudagraphs=off"}).empty());
  CHECK(notes(GraphBuilder(k2_15).reason("r")).empty());
  CHECK(notes(GraphBuilder(k2_9).set("partition_maps", list())).empty());
  CHECK(notes(GraphBuilder(k2_15).without_info()).empty());  // torch raises
}

TEST_CASE("what every graph with a static input and others is told") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    Lines expected{"first-calls", "static-inputs", "copied-inputs"};
    if (family == k2_15) expected.emplace_back("managed-inputs");
    expected.insert(expected.end(), {"alignment", "static-alignment"});
    if (family >= k2_14) expected.emplace_back("cloned-outputs");
    if (family != k2_12) expected.emplace_back("rerecords");
    const auto found = notes(GraphBuilder(family), {"graph_partition=off"});
    CHECK(ids(found) == expected);
    CHECK(text_of(found, "static-inputs").starts_with("input 1 is read where it lies"));
    CHECK(text_of(found, "copied-inputs") ==
          "inputs 0, 2 are copied before each replay, unless they come from another CUDA graph");
    CHECK(has(text_of(found, "first-calls"), "in each thread") == (family >= k2_13));
    // 2.6 to 2.11 limit nothing where Dynamo inlines modules, which it does unless told otherwise.
    CHECK(has(text_of(found, "rerecords"), "inline_inbuilt_nn_modules") == (family <= k2_11));
  }
}

TEST_CASE("limits have the values of the settings") {
  const auto found = notes(GraphBuilder(k2_13), {"triton.cudagraph_unexpected_rerecord_limit=7"});
  CHECK(has(text_of(found, "rerecords"), "more than 7 times"));
  GraphBuilder graph(k2_15);
  graph.key_lines(
      {"[" + std::string(51, 'a') + "] inductor_config[triton.cudagraph_managed_input_rerecord_limit]: 9",
       "[" + std::string(51, 'a') +
           "] inductor_config[triton.cudagraph_managed_input_rerecord_action]: 'skip'"});
  const std::string managed = text_of(notes(graph), "managed-inputs");
  CHECK(has(managed, "changed 9 times"));
  CHECK(has(managed, "ends this one"));
  CHECK(
      has(text_of(notes(GraphBuilder(k2_15)), "managed-inputs"), "is copied once its address has changed 5"));
}

TEST_CASE("mutated inputs that aren't static, in torch's words") {
  // cudagraph_utils.py: check_for_mutation, get_mutation_stack_trace (2.6 to 2.15)
  for (const auto family : {k2_6, k2_9, k2_15}) {
    CAPTURE(torch::family_name(family));
    const std::string plain = text_of(notes(mutating(family), {"graph_partition=off"}), "mutation");
    CHECK(has(plain, "writes to input 2 (arg2_1)"));
    CHECK(plain.ends_with("without one: skipping cudagraphs due to mutated inputs (1 instances)"));
    const auto traced = notes(mutating(family, text("File x")), {"graph_partition=off"});
    CHECK(text_of(traced, "mutation")
              .ends_with("skipping cudagraphs due to mutated inputs (1 instances). Found from : \n File x"));
    // torch copies no input of a graph that mutates one.
    CHECK(text_of(traced, "managed-inputs") == "no such note");
    GraphBuilder both = mutating(family);
    both.kwarg("static_input_idxs", tuple());
    CHECK(has(text_of(notes(both, {"graph_partition=off"}), "mutation"), "(2 instances)"));
    GraphBuilder neither = mutating(family);
    neither.kwarg("static_input_idxs", integers({1, 2}));
    CHECK(text_of(notes(neither, {"graph_partition=off"}), "mutation") == "no such note");
    const auto raising = notes(mutating(family), {"graph_partition=off", "triton.cudagraph_or_error=on"});
    CHECK(has(text_of(raising, "mutation"), "RuntimeError") == (family >= k2_9));
  }
}

TEST_CASE("integer inputs") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const auto found = notes(dynamic(family), {"graph_partition=off"});
    CHECK(text_of(found, "sizes") ==
          "input 0 (s7) is an integer: each value of it gets a CUDA graph of its own");
    CHECK(has(text_of(found, "warn-limit"), family <= k2_9 ? "more than 50" : "more than 8"));
    CHECK(has(text_of(found, "copied-inputs"), "input 2 is copied"));
    CHECK(text_of(found, "rerecord-limit") == "no such note");
    const auto limited =
        notes(dynamic(family),
              {"graph_partition=off", "triton.cudagraph_dynamic_shape_rerecord_limit=3",
               "triton.cudagraph_dynamic_shape_warn_limit=none", "triton.cudagraph_capture_sizes=(4, 8)"});
    CHECK(has(text_of(limited, "rerecord-limit"), "after 3") == (family == k2_15));
    CHECK(text_of(limited, "warn-limit") == "no such note");
    CHECK(has(text_of(limited, "capture-sizes"), "cudagraph_capture_sizes=(4, 8)") == (family >= k2_8));
  }
  // None is in no tuple of sizes.
  const auto never =
      notes(GraphBuilder(k2_8), {"graph_partition=off", "triton.cudagraph_capture_sizes=(4,)"});
  CHECK(has(text_of(never, "capture-sizes"), "always runs without"));
}

TEST_CASE("partitions have positions of their own, and sizes after their other inputs") {
  GraphBuilder graph(k2_15);
  graph.set("partition_maps",
            list(partition(0, integers({2, 1}), list()) + partition(4, integers({0}), list())));
  graph.set("source_code", text("def partition_0(args):\n    arg2_1, arg1_1, s3 = args\n    args.clear()\n"
                                "    s3 = s3\n    x()\n" +
                                wrapper(2)));
  const auto found = notes(graph);
  CHECK(std::count_if(found.begin(), found.end(),
                      [](const RunTimeNote& note) { return note.id == "copied-inputs"; }) == 2);
  CHECK(text_of(found, "sizes").starts_with("partition 0: input 2 (s3) is an integer"));
  CHECK(text_of(found, "static-inputs").starts_with("partition 0: input 1 is read"));
  CHECK(text_of(found, "copied-inputs").starts_with("partition 0: input 0 is copied"));
  CHECK(found.front().id == "first-calls");
  CHECK(found.back().id == "rerecords");
}

TEST_CASE("without trees") {
  // compile_fx.py: cudagraphify_impl
  const auto found = notes(mutating(k2_9), {"graph_partition=off", "triton.cudagraph_trees=off"});
  CHECK(ids(found) ==
        Lines{"first-calls", "static-inputs", "copied-inputs", "alignment", "static-alignment"});
  CHECK(has(text_of(found, "static-inputs"), "size_asserts"));
  GraphBuilder empty(k2_15);
  empty.set("kernel_free_cudagraph", boolean(true));
  CHECK(ids(notes(empty, {"graph_partition=off", "triton.cudagraph_trees=off"})) ==
        Lines{"first-calls", "kernel-free"});
  CHECK(has(text_of(notes(empty, {"graph_partition=off"}), "kernel-free"), "only its outputs"));
}

TEST_CASE("2.15: inputs that the wrapper asserts aren't realigned") {
  GraphBuilder graph(k2_15);
  graph.key_lines({"[" + std::string(51, 'a') + "] inductor_config[alignment_asserts_inputs]: True"});
  CHECK(has(text_of(notes(graph), "alignment"), "asserts alignment"));
  CHECK(text_of(notes(graph), "static-alignment") == "no such note");
}

TEST_CASE("a policy decides by itself") {
  CHECK(ids(notes(GraphBuilder(k2_13), {"cudagraph_policy=wrap"})) == Lines{"policy"});
}

TEST_SUITE_END();
