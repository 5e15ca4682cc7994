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
