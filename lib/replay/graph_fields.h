#pragma once

#include <optional>
#include <string>

#include "torch/output_code.h"

namespace cachetool::replay {

/// Why post-compile can't be followed on this graph: a field that it reads is missing, holds something that
/// torch never writes, or is larger than any graph's. Nothing when all can be used.
std::optional<std::string> unusable_field(const torch::CompiledFxGraph& graph);

}  // namespace cachetool::replay
