#include "torch/launches.h"

#include <doctest/doctest.h>

using namespace cachetool::torch;

TEST_CASE("every grid type that torch has a formula for is known") {
  for (const char* type : {"Grid1D", "Grid2D", "Grid3D", "Grid2DWithYZOverflow", "CooperativeReductionGrid",
                           "SplitScanGrid", "MixOrderReductionGrid", "BatchMatmulGrid3D"}) {
    CHECK_MESSAGE(!grid_formula(type).empty(), type);
  }
  CHECK(grid_formula("Grid1D") == "ceil(xnumel/XBLOCK), 1, 1");
  CHECK(grid_formula("SomethingElse").empty());
}

TEST_CASE("a graph without a wrapper has no launches") {
  CHECK(kernel_launches(CompiledFxGraph{}).empty());
}

TEST_CASE("a kernel without a static launcher takes what Triton's metadata in the bundle says") {
  CompiledFxGraph graph;
  graph.source_code = std::string_view(
      "k = async_compile.triton('k', \"{'grid_type': 'Grid1D'}\")\ndef call(args):\n    k.run(a, 128, "
      "stream=s)\n");
  TritonKernelArtifacts files;
  files.artifacts.push_back({"__grp__k.json", "{}"});
  files.artifacts.push_back({"other.json", R"({"num_warps": 1})"});
  files.artifacts.push_back({"k.json", R"({"num_warps": 4, "num_stages": 2, "shared": 16})"});
  files.artifacts.push_back({"k.json", R"({"num_warps": 8})"});
  TritonBundle bundle;
  bundle.kernel_artifacts.push_back(files);
  graph.triton_bundle = bundle;
  const auto launches = kernel_launches(graph);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].grid_type == "Grid1D");
  CHECK(launches[0].threads() == 128);
  CHECK(launches[0].num_stages == 2);
  CHECK(launches[0].shared_bytes == 16);
  CHECK(launches[1].num_warps == 8);
  CHECK_FALSE(launches[1].num_stages);
}

TEST_CASE("a user's kernel is found in the bundle by its function's name") {
  const std::string source =
      "axpy_0 = async_compile.triton('axpy', '''\ninductor_meta={'grid_type': 'FixedGrid'}\n''', "
      "device_str='cuda')\n"
      "def call(args):\n"
      "    axpy_0.run(arg0_1, buf0, 1000, 8, 1, 1, stream=stream0)\n";
  CompiledFxGraph graph;
  graph.source_code = std::string_view(source);
  TritonBundle bundle;
  TritonKernelArtifacts kernel;
  kernel.artifacts.push_back({"axpy.json", R"({"num_warps": 2, "num_stages": 3, "shared": 64})"});
  bundle.kernel_artifacts.push_back(kernel);
  graph.triton_bundle = std::move(bundle);
  const auto launches = kernel_launches(graph);
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].kernel == "axpy_0");
  CHECK(launches[0].num_warps == 2);
  CHECK(launches[0].shared_bytes == 64);
  REQUIRE(launches[0].blocks);
  CHECK((*launches[0].blocks)[0] == 8);
}
