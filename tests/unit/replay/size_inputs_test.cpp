#include "replay/size_inputs.h"

#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace cachetool::replay;
using namespace graph_builder;

namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kHead =
    "def call(args):\n"
    "    arg0_1, arg1_1, arg2_1, arg3_1 = args\n"
    "    args.clear()\n";
constexpr std::string_view kBenchmark =
    "    return (buf0, )\n\n\n"
    "def benchmark_compiled_module(times=10, repeat=10):\n"
    "    arg0_1 = 17\n"
    "    arg1_1 = rand_strided((17, 4), (4, 1), device='cpu', dtype=torch.float32)\n"
    "    arg2_1 = 4\n"
    "    arg3_1 = rand_strided((4, 4), (4, 1), device='cpu', dtype=torch.float32)\n"
    "    fn = lambda: call([arg0_1, arg1_1, arg2_1, arg3_1])\n";

SizeInputs of_wrapper(std::string_view body, std::string_view tail = kBenchmark) {
  return size_inputs_of_wrapper(std::string(kHead) + std::string(body) + std::string(tail));
}

SizeInputs of_lines(std::initializer_list<std::string_view> lines) {
  const Decoded decoded = decode(GraphBuilder(ReleaseFamily::k2_9).key_lines(lines).pickle());
  return size_inputs_of(*decoded.fx_graph());
}

}  // namespace

TEST_SUITE_BEGIN("replay/size_inputs");

// torch/_inductor/codecache.py: FxGraphCachePickler._reduce_symint, debug_lines (2.8).
TEST_CASE("2.8 on: the key's lines say what each input is") {
  const SizeInputs inputs =
      of_lines({"[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] gm: GraphModule()",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[0]: ('s77',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[1]: "
                "TensorMetadata(shape=torch.Size([s77, 8]))",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[2]: 5",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[3]: ('2*s77',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[4]: ('s77',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] fx_kwargs[x]: ('s1',)"});
  CHECK(inputs.expressions == Texts{"s77", "2*s77", "s77"});
  CHECK(inputs.complete);
}

// torch/_inductor/codecache.py: _filter_backed_symints.
TEST_CASE("sizes without a hint are left out") {
  const SizeInputs inputs =
      of_lines({"[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[0]: ('u0',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[1]: ('s0 + u3',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[2]: ('zuf1',)",
                "[abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij2] example_inputs[3]: ('s5',)"});
  CHECK(inputs.expressions == Texts{"s5"});
  CHECK(is_unbacked("Max(1, u12)"));
  CHECK_FALSE(is_unbacked("s0 + us1 + u"));
}

// torch/_inductor/codegen/wrapper.py: codegen_input_symbol_assignment (2.6).
TEST_CASE("2.6 and 2.7: the wrapper's assignments") {
  const SizeInputs inputs =
      of_wrapper("    s0 = arg0_1\n    s1 = arg2_1\n    assert_size_stride(arg1_1, (s0, 4), (4, 1))\n");
  CHECK(inputs.expressions == Texts{"s0", "s1"});
  CHECK(inputs.complete);
  const SizeInputs unbacked = of_wrapper("    u0 = arg0_1\n    s1 = arg2_1\n");
  CHECK(unbacked.expressions == Texts{"s1"});
  CHECK(unbacked.complete);
  CHECK(size_inputs_of_wrapper("def call(args):\n    arg0_1, = args\n    s0 = arg0_1\n").expressions ==
        Texts{"s0"});
}

TEST_CASE("a method, and later assignments of other names") {
  const SizeInputs inputs = size_inputs_of_wrapper(
      "class Runner:\n    def call(self, args):\n        arg0_1, arg1_1 = args\n        args.clear()\n"
      "        s0 = arg0_1\n        assert_size_stride(arg1_1, (s0, 4), (4, 1))\n        buf1 = arg1_1\n");
  CHECK(inputs.expressions == Texts{"s0"});
  CHECK(inputs.complete);
}

TEST_CASE("a number that is no symbol ends what is known") {
  const SizeInputs inputs = of_wrapper("    s0 = arg0_1\n");
  CHECK(inputs.expressions == Texts{"s0"});
  CHECK_FALSE(inputs.complete);
  CHECK(inputs.reason == "the wrapper doesn't say which size its argument arg2_1 is");
}

TEST_CASE("without a benchmark only what is checked is known to be a tensor") {
  const std::string body =
      "    s0 = arg0_1\n    s1 = arg2_1\n    assert_size_stride(arg1_1, (s0, 4), (4, 1))\n";
  CHECK_FALSE(of_wrapper(body, "    return\n").complete);
  CHECK(of_wrapper(body + "    assert_size_stride(arg3_1, (s1, 4), (4, 1))\n", "    return\n").complete);
}

TEST_CASE("wrappers of another form") {
  CHECK(size_inputs_of_wrapper("").expressions.empty());
  CHECK_FALSE(size_inputs_of_wrapper("cpp_wrapper_src = r'''").complete);
  CHECK_FALSE(size_inputs_of_wrapper("def call(").complete);
  CHECK_FALSE(size_inputs_of_wrapper("def call(args):\nx = args").complete);
}

TEST_SUITE_END();
