#include "torch/wrapper_scan.h"

#include <doctest/doctest.h>

#include "pickle_text.h"
#include "torch/decode.h"
#include "torch/key.h"

using namespace cachetool;
using namespace cachetool::torch;

TEST_SUITE_BEGIN("torch/wrapper_scan");

TEST_CASE("kernels, launches and the label of a wrapper") {
  const std::string source =
      "# AOT ID: ['0_inference']\n"
      "import torch\n"
      "async_compile = AsyncCompile()\n"
      "# Topologically Sorted Source Nodes: [a], Original ATen: [aten.mul, prims.iota, aten.mul]\n"
      "cpp_fused_0 = async_compile.cpp_pybinding(['const float*', 'int64_t'], '''\n"
      "x = async_compile.triton('no', 'no')\n"
      "a\\nb\n"
      "''')\n"
      "tri_0 = async_compile.triton('tri', r'''\nbody # '\n''', device_str='cuda')\n"
      "async_compile.wait(globals())\n"
      "def call(args):\n"
      "    cpp_fused_0(arg0_1, buf0)\n"
      "    tri_0.run(arg0_1, (1, 2), 256, grid=grid(256), stream=stream0)\n"
      "    tri_0.run(buf1, 8, stream=raw_stream0)\n"
      "    other(buf1)\n";
  const WrapperScan scan = scan_wrapper(source);
  CHECK(scan.graph_label == "0_inference");
  CHECK_FALSE(scan.cpp_wrapper);
  REQUIRE(scan.kernels.size() == 2);
  CHECK(scan.kernels[0].name == "cpp_fused_0");
  CHECK(scan.kernels[0].kind == KernelKind::kCppPybinding);
  CHECK(scan.kernels[0].arg_types == std::vector<std::string>{"const float*", "int64_t"});
  CHECK(scan.kernels[0].text == "\nx = async_compile.triton('no', 'no')\na\nb\n");
  CHECK(scan.kernels[0].line == 5);
  CHECK(scan.kernels[1].kind == KernelKind::kTriton);
  CHECK(scan.kernels[1].function == "tri");
  CHECK(scan.kernels[1].text == "\nbody # '\n");
  REQUIRE(scan.launches.size() == 3);
  CHECK(scan.launches[0].kernel == "cpp_fused_0");
  CHECK(scan.launches[0].arguments == "arg0_1, buf0");
  CHECK(scan.launches[1].grid == "grid(256)");
  CHECK(scan.launches[1].arguments == "arg0_1, (1, 2), 256");
  CHECK(scan.launches[2].arguments == "buf1, 8");
  CHECK(scan.launches[2].line == 16);
  CHECK(first_operators(source, 8) == std::vector<std::string_view>{"mul", "prims.iota"});
  CHECK(first_operators(source, 1).size() == 1);
}

TEST_CASE("text that ends anywhere is scanned to its end") {
  const std::string source =
      "k = async_compile.triton('k', '''\nbody\n''', device_str='cuda')\nk.run(a, stream=s)\n";
  for (std::size_t length = 0; length <= source.size(); ++length) {
    const WrapperScan scan = scan_wrapper(std::string_view(source).substr(0, length));
    CHECK(scan.kernels.size() <= 1);
  }
}

TEST_CASE("operators come from calls, then from the names of kernels, where no comment says them") {
  CHECK(first_operators("    extern_kernels.mm(a, b)\n    extern_kernels.addmm(c)\n", 4) ==
        std::vector<std::string_view>{"mm", "addmm"});
  CHECK(first_operators("t: f32 = torch.ops.aten.t.default(x)", 4) == std::vector<std::string_view>{"t"});
  CHECK(first_operators("\ncpp_fused_amax_exp_0 = async_compile", 4) ==
        std::vector<std::string_view>{"amax_exp_0"});
  CHECK(first_operators("", 4).empty());
}

TEST_CASE("the label stands behind a block of compile-time tuning") {
  CHECK(graph_label("r\"\"\"\ntext\n\"\"\"\n# AOT ID: ['3_forward']\n") == "3_forward");
  CHECK(graph_label("import torch\n# AOT ID: ['3_forward']\n").empty());
  CHECK(graph_label("# AOT ID: ['broken").empty());
}

TEST_CASE("the kernels of a real wrapper") {
  const std::string bytes = pickle_text::entry_file("fxgraph-2.6.0-cuda.pkl");
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = decode_entry(bytes, budget);
  REQUIRE(decoded);
  const WrapperScan scan = scan_wrapper(*decoded->fx_graph()->source_code);
  REQUIRE(scan.kernels.size() == 1);
  CHECK(scan.kernels[0].name == "triton_poi_fused_exp_mul_0");
  REQUIRE(scan.launches.size() == 1);
  CHECK(scan.launches[0].grid == "grid(256)");
  CHECK(scan.launches[0].arguments == "primals_1, primals_2.item(), buf0, 256");
}

TEST_SUITE_END();
