#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/constants.h"

namespace cachetool::replay {

/// What a graph's wrapper says about one of its constants.
struct ExpectedConstant {
  std::string dtype;   ///< "float32"; empty where nothing tells it, as is the rest then
  std::string device;  ///< "cuda:0"
  std::optional<std::vector<std::int64_t>> size;
  std::optional<std::vector<std::int64_t>> stride;  ///< in elements
};

/// What is expected of each of `names`, in their order. A wrapper declares every constant that it uses with
/// its device, dtype, size and stride, so that other constants make another file: `NAME = None  #
/// device(type='cpu') torch.float32 (11,) (1,) 7fe838dbd360`, a C++ wrapper in a comment.
/// torch/_inductor/graph.py: allocate_non_dup_const_name; codegen/wrapper.py, cpp_wrapper_cpu.py:
/// write_constant (2.6 to 2.15). Linear in the text, of which nothing is evaluated.
std::vector<ExpectedConstant> expected_constants(std::string_view source_code,
                                                 const std::vector<FrozenName>& names);

}  // namespace cachetool::replay
