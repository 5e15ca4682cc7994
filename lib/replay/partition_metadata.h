#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "replay/decision.h"
#include "replay/raised.h"
#include "replay/rules.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// Whether a constant of that name is a tensor.
using ConstantNames = std::unordered_map<std::string_view, bool>;

/// A graph's arguments of cudagraphify, from which those of its partitions follow.
class PartitionMetadata {
 public:
  /// `whole` has the graph's arguments. All three must outlive this.
  PartitionMetadata(const Wrap& whole, const ConstantNames& constants, const Rules& rules);

  /// The arguments for one partition: those of the graph, mapped to the partition's inputs and outputs. A
  /// partition input that is no graph input gets the placeholder "partition_<id>_placeholder_<i>".
  /// torch/_inductor/cudagraph_utils.py: get_partition_cudagraph_metadata (2.8, 2.14). Raises as Python does
  /// where a position or a name isn't there. Takes time and memory of the partition, not of the graph.
  OrRaised<Wrap> wrap(const torch::GraphPartitionMap& map) const;

 private:
  using Positions = std::unordered_set<std::int64_t>;

  OrRaised<void> add_inputs(const torch::GraphPartitionMap& map, Wrap& wrap) const;
  OrRaised<void> add_outputs(const torch::GraphPartitionMap& map, Wrap& wrap) const;
  OrRaised<std::uint64_t> count_constants(const torch::GraphPartitionMap& map) const;

  const Wrap& whole_;
  const ConstantNames& constants_;
  const Rules& rules_;
  Positions static_inputs_;
  Positions mutated_inputs_;
  Positions visible_outputs_;
};

}  // namespace cachetool::replay
