#include "replay/partition_metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kSource = "get_partition_cudagraph_metadata";

// The position that Python's items[index] reads: from the end where the index is negative.
OrRaised<std::size_t> item_at(std::size_t size, std::int64_t index, std::string_view container) {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count)
    return raise("IndexError", fmt::format("{} index out of range", container), kSource);
  return static_cast<std::size_t>(at);
}

// The graph outputs that a partition output is: to 2.13 one or none, then a list.
std::vector<std::int64_t> graph_outputs(const pickle::Value& value) {
  if (value.is(pickle::Tag::kInt)) return {value.as_int()};
  std::vector<std::int64_t> outputs;
  if (const auto items = torch::sequence_items(value)) {
    for (const pickle::Value& output : *items) {
      if (output.is(pickle::Tag::kInt)) outputs.push_back(output.as_int());
    }
  }
  return outputs;
}

}  // namespace

PartitionMetadata::PartitionMetadata(const Wrap& whole, const ConstantNames& constants, const Rules& rules)
    : whole_(whole),
      constants_(constants),
      rules_(rules),
      static_inputs_(whole.static_input_idxs.begin(), whole.static_input_idxs.end()),
      mutated_inputs_(whole.mutated_input_idxs.begin(), whole.mutated_input_idxs.end()) {
  if (whole.user_visible_output_idxs)
    visible_outputs_.insert(whole.user_visible_output_idxs->begin(), whole.user_visible_output_idxs->end());
}

OrRaised<void> PartitionMetadata::add_inputs(const torch::GraphPartitionMap& map, Wrap& wrap) const {
  std::int64_t position = 0;
  for (const std::optional<std::int64_t> input : *map.input_index_mapping) {
    if (input && static_inputs_.contains(*input)) wrap.static_input_idxs.push_back(position);
    if (input && mutated_inputs_.contains(*input)) wrap.mutated_input_idxs.push_back(position);
    if (input) {
      const auto placeholder = item_at(whole_.placeholders.size(), *input, "tuple");
      if (!placeholder) return tl::unexpected(placeholder.error());
      wrap.placeholders.push_back(whole_.placeholders[*placeholder]);
    } else {
      wrap.placeholders.push_back(fmt::format("partition_{}_placeholder_{}", map.id.value_or(0), position));
    }
    ++position;
  }
  return {};
}

OrRaised<void> PartitionMetadata::add_outputs(const torch::GraphPartitionMap& map, Wrap& wrap) const {
  std::int64_t position = 0;
  for (const pickle::Value& value : *map.output_index_mapping) {
    const std::vector<std::int64_t> outputs = graph_outputs(value);
    if (outputs.empty()) {
      wrap.stack_traces_present.push_back(false);
    } else {
      if (!whole_.has_stack_traces)
        return raise("TypeError", "'NoneType' object is not subscriptable", kSource);
      const auto seen = std::find_if(outputs.begin(), outputs.end(), [this](std::int64_t output) {
        return visible_outputs_.contains(output);
      });
      const bool user_visible = seen != outputs.end();
      const auto trace =
          item_at(whole_.stack_traces_present.size(), user_visible ? *seen : outputs.front(), "list");
      if (!trace) return tl::unexpected(trace.error());
      wrap.stack_traces_present.push_back(whole_.stack_traces_present[*trace]);
      if (user_visible && wrap.user_visible_output_idxs) wrap.user_visible_output_idxs->push_back(position);
    }
    ++position;
  }
  return {};
}

OrRaised<std::uint64_t> PartitionMetadata::count_constants(const torch::GraphPartitionMap& map) const {
  std::unordered_set<std::string_view> names;
  for (const std::string_view name : *map.constant_names) {
    const auto found = constants_.find(name);
    const bool passed_on = found != constants_.end() && (found->second || !rules_.tensor_constants_only);
    if (!passed_on) return raise("KeyError", python_repr(name), kSource);
    names.insert(name);
  }
  return names.size();
}

OrRaised<Wrap> PartitionMetadata::wrap(const torch::GraphPartitionMap& map) const {
  Wrap wrap;
  wrap.device_index = whole_.device_index;
  wrap.is_backward = whole_.is_backward;
  wrap.is_inference = whole_.is_inference;
  wrap.kernel_free_cudagraph = whole_.kernel_free_cudagraph;
  if (whole_.user_visible_output_idxs) wrap.user_visible_output_idxs.emplace();
  wrap.partition = map.id.value_or(0);
  if (const auto added = add_inputs(map, wrap); !added) return tl::unexpected(added.error());
  if (const auto added = add_outputs(map, wrap); !added) return tl::unexpected(added.error());
  const auto count = count_constants(map);
  if (!count) return tl::unexpected(count.error());
  wrap.n_constants = *count;
  return wrap;
}

}  // namespace cachetool::replay
