#include "replay/graph_fields.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::dict;
using pickle_text::integer;
using pickle_text::list;
using pickle_text::none;
using pickle_text::text;
using pickle_text::tuple;

namespace {

std::string problem(const GraphBuilder& builder) {
  const Decoded decoded = decode(builder.pickle());
  REQUIRE(decoded.fx_graph() != nullptr);
  return unusable_field(*decoded.fx_graph()).value_or("none");
}

GraphBuilder graph() {
  return GraphBuilder(k2_15);
}

std::string odd(std::string_view name) {
  return std::string(name) + " holds what torch never writes there";
}

// `count` times the same input: 11 bytes each in the pickle.
std::string long_mapping(std::size_t count) {
  std::string items;
  for (std::size_t i = 0; i < count; ++i) items += "K\x01";
  return list(items);
}

// That value `count` times: once as it is, then named by its place in the memo, in two bytes each.
std::string repeated(const std::string& value, std::size_t count) {
  std::string items = value + "q\x05";  // BINPUT, then BINGET
  for (std::size_t i = 1; i < count; ++i) items += "h\x05";
  return items;
}

}  // namespace

TEST_SUITE_BEGIN("replay/graph_fields");

TEST_CASE("graphs as every release writes them can be used") {
  for (const auto family : kFamilies) CHECK(problem(GraphBuilder(family)) == "none");
  CHECK(problem(graph().without_info()) == "none");
  CHECK(
      problem(graph().set("partition_maps", none()).set("constants", none()).set("output_strides", none())) ==
      "none");
  for (const std::string_view name :
       {"fxgraph-2.6.0-constants.pkl", "fxgraph-2.6.0-cuda.pkl", "fxgraph-2.15.0-cuda-parameter.pkl"}) {
    const Decoded decoded = decode(pickle_text::entry_file(name));
    CHECK_FALSE(unusable_field(*decoded.fx_graph()));
  }
  // 2.4 had no fx_kwargs: nothing tells a forward from a backward.
  const Decoded old = decode(pickle_text::entry_file("fxgraph-2.4.1-cpu.pkl"));
  CHECK(unusable_field(*old.fx_graph())->starts_with("fx_kwargs is missing"));
}

TEST_CASE("fields that must be there") {
  for (const std::string_view name :
       {"device_types", "device_idxs", "mutated_input_idxs", "inputs_to_check"}) {
    CHECK(problem(graph().without(name)) == odd(name));
    CHECK(problem(graph().set(name, none())) == odd(name));
    CHECK(problem(graph().set(name, text("0"))) == odd(name));
  }
  CHECK(problem(graph().kwarg("is_backward", none())) == odd("fx_kwargs.is_backward"));
  CHECK(problem(graph().kwarg("is_backward", integer(1))) == odd("fx_kwargs.is_backward"));
  CHECK(problem(graph().kwarg("is_inference", text("no"))) == odd("fx_kwargs.is_inference"));
}

TEST_CASE("fields that may be missing, but hold nothing else") {
  for (const std::string_view name : {"disabled_cudagraphs_reason", "constants", "cudagraph_info",
                                      "source_code", "partition_maps", "output_strides"}) {
    CAPTURE(name);
    GraphBuilder builder = graph();
    if (name == "cudagraph_info") continue;
    CHECK(problem(builder.set(name, integer(1))) == odd(name));
  }
  CHECK(problem(graph().kwarg("static_input_idxs", texts({"1"}))) == odd("fx_kwargs.static_input_idxs"));
  CHECK(problem(graph().set("device_idxs", list(text("0")))) == odd("device_idxs"));
}

TEST_CASE("cudagraph_info") {
  CHECK(problem(graph().info("cudagraph_fail_reasons", none())) ==
        odd("cudagraph_info.cudagraph_fail_reasons"));
  CHECK(problem(graph().info("cudagraph_fail_reasons", list(none()))) ==
        odd("cudagraph_info.cudagraph_fail_reasons"));
  CHECK(problem(graph().info("placeholders", none())) == odd("cudagraph_info.placeholders"));
  CHECK(problem(graph().info("stack_traces", list(integer(1)))) == odd("cudagraph_info.stack_traces"));
  CHECK(problem(graph().info("stack_traces", none())) == "none");
  CHECK(problem(graph().info("user_visible_output_idxs", texts({"0"}))) ==
        odd("cudagraph_info.user_visible_output_idxs"));
  const std::string nameless =
      pickle_text::instance("torch._inductor.cudagraph_utils", "PlaceholderInfo", dict());
  CHECK(problem(graph().info("placeholders", tuple(nameless))) ==
        odd("the name of a placeholder in cudagraph_info"));
}

TEST_CASE("partitions") {
  CHECK(problem(graph().set("partition_maps", list(partition(0, none(), list())))) == odd("partition_maps"));
  CHECK(problem(graph().set("partition_maps", list(partition(0, list(text("0")), list())))) ==
        odd("partition_maps"));
  CHECK(problem(graph().set("partition_maps", list(partition(0, list(), none())))) == odd("partition_maps"));
  CHECK(problem(graph().set("partition_maps", list(partition(0, list(), list(), list(integer(0)))))) ==
        odd("partition_maps"));
}

TEST_CASE("a small entry can't ask for large arguments") {
  // 64 MiB: 1,000 inputs of one name of 64 KiB, in two bytes each.
  const std::string name(64 << 10, 'n');
  GraphBuilder builder = graph();
  builder.info("placeholders", placeholders({"a", name}));
  builder.set("partition_maps", list(partition(0, long_mapping(900), list())));
  CHECK(problem(builder) == "none");
  builder.set("partition_maps", list(partition(0, long_mapping(1100), list())));
  CHECK(problem(builder) == "the arguments of its partitions would take more than 64 MiB");
  // Over several partitions together.
  builder.set("partition_maps",
              list(partition(0, long_mapping(600), list()), partition(1, long_mapping(600), list())));
  CHECK(problem(builder) == "the arguments of its partitions would take more than 64 MiB");
  CHECK(decide(builder, {"cudagraphs=on"}).callable == Callable::kUnknown);
}

TEST_CASE("nor for texts that a pickle names once and repeats in two bytes") {
  const std::string too_much = "the texts of cudagraph_info would take more than 64 MiB";
  const std::string name(256 << 10, 'n');
  const std::string input = pickle_text::instance("torch._inductor.cudagraph_utils", "PlaceholderInfo",
                                                  dict(text("name"), text(name)));
  CHECK(problem(graph().info("placeholders", tuple(repeated(input, 200)))) == "none");
  CHECK(problem(graph().info("placeholders", tuple(repeated(input, 300)))) == too_much);
  CHECK(problem(graph().info("cudagraph_fail_reasons", list(repeated(text(name), 20)))) == "none");
  CHECK(problem(graph().info("cudagraph_fail_reasons", list(repeated(text(name), 30)))) == too_much);
}

TEST_CASE("nor for outputs and strides that are repeated so") {
  std::string outputs;
  for (int i = 0; i < 5000; ++i) outputs += "K\x01";
  const auto with_outputs = [&](std::size_t count) {
    return problem(
        graph().set("partition_maps", list(partition(0, list(), list(repeated(list(outputs), count))))));
  };
  CHECK(with_outputs(800) == "none");
  CHECK(with_outputs(900) == "the arguments of its partitions would take more than 64 MiB");
  std::string stride = "1";
  while (stride.size() < 20'000) stride += "+1";
  CHECK(problem(graph().set("output_strides", list(tuple(repeated(text(stride), 300))))) ==
        "the expressions in output_strides have more than 4 MiB");
  CHECK(problem(graph().set("output_strides", list(tuple(repeated(text(stride), 100))))) == "none");
}

TEST_CASE("strides are expressions of a closed grammar") {
  const auto stride = [](std::string_view expression) {
    return problem(graph().set("output_strides", list(tuple(text(expression)), none())));
  };
  CHECK(stride("s0*(4 + s1)//2") == "none");
  CHECK(stride("__import__('os').system('x')").starts_with("a stride in output_strides is no expression"));
  CHECK(stride("").starts_with("a stride in output_strides is no expression"));
  CHECK(problem(graph().set("output_strides", list(tuple(integer(4))))) == "none");
  CHECK(problem(graph().set("output_strides", list(text("4")))) == odd("output_strides"));
  CHECK(problem(graph().set("output_strides", list(tuple(none())))) == odd("output_strides"));
}

TEST_SUITE_END();
