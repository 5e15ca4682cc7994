#include "replay/graph_inputs.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "graph_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::text;

namespace {

std::vector<GraphInput> inputs_of(const GraphBuilder& builder) {
  const Decoded decoded = decode(builder.pickle());
  REQUIRE(decoded.fx_graph() != nullptr);
  return graph_inputs(*decoded.fx_graph());
}

std::string placeholder(const std::string& name, const std::string& trace) {
  return pickle_text::instance(
      "torch._inductor.cudagraph_utils", "PlaceholderInfo",
      pickle_text::dict(text("name"), name, text("mutating_use_stack_trace"), trace));
}

}  // namespace

TEST_SUITE_BEGIN("replay/graph_inputs");

TEST_CASE("inputs are those of cudagraph_info, with what the graph does to them") {
  GraphBuilder builder(k2_15);
  builder.info("placeholders", pickle_text::tuple(placeholder(text("a"), pickle_text::none()),
                                                  placeholder(text("b"), text("line 7"))));
  builder.set("mutated_input_idxs", pickle_text::set(pickle_text::integer(1)));
  builder.kwarg("static_input_idxs", integers({0, 7, -1}));
  const auto inputs = inputs_of(builder);
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].name == "a");
  CHECK(inputs[0].is_static);
  CHECK_FALSE(inputs[0].is_mutated);
  CHECK(inputs[1].is_mutated);
  CHECK(inputs[1].mutation_trace == "line 7");
  CHECK_FALSE(inputs[1].is_static);
}

TEST_CASE("without cudagraph_info the printed graph names them, and tells sizes from tensors") {
  GraphBuilder builder(k2_15);
  builder.without_info().set(
      "inductor_post_grad_graph_str",
      text("class GraphModule(torch.nn.Module):\n"
           "    def forward(self, arg0_1: \"Sym(s0)\", arg1_1: \"f32[s0, 4][4, 1]cuda:0\"):\n"
           "        return (arg1_1,)\n"));
  const auto inputs = inputs_of(builder);
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].name == "arg0_1");
  CHECK(inputs[0].is_size);
  CHECK(inputs[1].name == "arg1_1");
  CHECK_FALSE(inputs[1].is_size);
  CHECK(inputs[1].is_static);
}

TEST_CASE("a text that is repeated many times is copied up to a limit") {
  const std::string megabyte(1 << 20, 'x');
  std::string repeated = placeholder(text("n"), text(megabyte) + "q\x01");   // BINPUT 1
  for (int i = 0; i < 99; ++i) repeated += placeholder(text("n"), "h\x01");  // BINGET 1
  GraphBuilder builder(k2_15);
  builder.info("placeholders", pickle_text::tuple(repeated));
  const auto inputs = inputs_of(builder);
  REQUIRE(inputs.size() == 100);
  const auto copied = std::count_if(inputs.begin(), inputs.end(),
                                    [](const GraphInput& input) { return !input.mutation_trace.empty(); });
  CHECK(copied == 15);
  CHECK(inputs[99].name == "n");
}

TEST_SUITE_END();
