#pragma once

#include <optional>
#include <string_view>

#include "torch/key.h"

namespace cachetool::store {

/// The first generated module that a text of Triton names as its source (`loc("…/c….py"…)` in `.ttir` and
/// `.source`). Looks at the first 64 KiB: such lines come first, and modules can be large.
std::optional<torch::HashName> located_module(std::string_view text);

}  // namespace cachetool::store
