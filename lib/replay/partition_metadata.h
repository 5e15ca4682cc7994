#pragma once

#include <string_view>
#include <unordered_map>

#include "replay/decision.h"
#include "replay/raised.h"
#include "replay/rules.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// Whether a constant of that name is a tensor.
using ConstantNames = std::unordered_map<std::string_view, bool>;

/// The arguments of cudagraphify for one partition: those of the graph, mapped to the partition's inputs and
/// outputs. A partition input that is no graph input gets the placeholder "partition_<id>_placeholder_<i>".
/// torch/_inductor/cudagraph_utils.py: get_partition_cudagraph_metadata (2.8, 2.14). `whole` has the graph's
/// arguments. Raises as Python does where a position or a name isn't there.
OrRaised<Wrap> partition_wrap(const torch::GraphPartitionMap& map, const Wrap& whole,
                              const ConstantNames& constants, const Rules& rules);

}  // namespace cachetool::replay
