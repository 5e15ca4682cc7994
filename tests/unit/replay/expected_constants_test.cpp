#include "replay/expected_constants.h"

#include <doctest/doctest.h>

using namespace cachetool::replay;
using Counts = std::vector<std::int64_t>;

namespace {

ExpectedConstant expected(std::string_view source) {
  return expected_constants(source, {{"_frozen_param1", "_frozen_param1"}})[0];
}

bool unknown(std::string_view source) {
  const ExpectedConstant found = expected(source);
  return found.dtype.empty() && found.device.empty() && !found.size && !found.stride;
}

}  // namespace

// torch/_inductor/graph.py: allocate_non_dup_const_name (2.6 to 2.15).
TEST_SUITE("replay/expected_constants") {
  TEST_CASE("a declaration in Python and in C++") {
    const ExpectedConstant python = expected(
        "import torch\n_frozen_param1 = None  # device(type='cuda', index=1) torch.bfloat16 (6, 11) (1, 6) "
        "7fe8a0\n");
    CHECK(python.dtype == "bfloat16");
    CHECK(python.device == "cuda:1");
    CHECK(python.size == Counts{6, 11});
    CHECK(python.stride == Counts{1, 6});
    const ExpectedConstant cpp =
        expected("// _frozen_param1 device(type='cpu') torch.float8_e4m3fn () () -7fe8");
    CHECK(cpp.dtype == "float8_e4m3fn");
    CHECK(cpp.device == "cpu");
    CHECK(cpp.size == Counts{});
    CHECK(expected("_frozen_param1 = None  # device(type='cpu') torch.float32 (11,) (1,) 7f").size ==
          Counts{11});
  }

  TEST_CASE("the first declaration counts, whatever follows") {
    const std::string_view source =
        "_frozen_param1 = None  # device(type='cpu') torch.float32 (11,) (1,) 7f\n"
        "_frozen_param1 = None  # device(type='cpu') torch.float16 (12,) (1,) 7f\n";
    CHECK(expected(source).dtype == "float32");
  }

  TEST_CASE("what isn't certain is unknown") {
    CHECK(unknown(""));
    CHECK(unknown("_frozen_param10 = None  # device(type='cpu') torch.float32 (11,) (1,) 7f"));
    CHECK(unknown("  _frozen_param1 = None  # device(type='cpu') torch.float32 (11,) (1,) 7f"));
    CHECK(unknown("_frozen_param1 = None  # "));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (11) (1,) 7f"));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (11,) (1, 2) 7f"));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (-11,) (1,) 7f"));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (s0,) (1,) 7f"));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (11,) (1,) 7g"));
    CHECK(
        unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (99999999999999999999,) (1,) 7f"));
    CHECK(unknown("_frozen_param1 = None  # device(type='cpu') torch.float32 (1, 2) (1, 2)"));
  }
}
