#include "replay/partition_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kSource = "get_partition_cudagraph_metadata";

using Positions = std::unordered_set<std::int64_t>;

Positions as_set(const std::vector<std::int64_t>& positions) {
  return {positions.begin(), positions.end()};
}

// The position that Python's items[index] reads: from the end where the index is negative.
OrRaised<std::size_t> item_at(std::size_t size, std::int64_t index, std::string_view container) {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count)
    return raise("IndexError", fmt::format("{} index out of range", container), kSource);
  return static_cast<std::size_t>(at);
}

OrRaised<void> add_inputs(const torch::GraphPartitionMap& map, const Wrap& whole, Wrap& wrap) {
  const Positions static_inputs = as_set(whole.static_input_idxs);
  const Positions mutated_inputs = as_set(whole.mutated_input_idxs);
  std::int64_t position = 0;
  for (const std::optional<std::int64_t> input : *map.input_index_mapping) {
    if (input && static_inputs.contains(*input)) wrap.static_input_idxs.push_back(position);
    if (input && mutated_inputs.contains(*input)) wrap.mutated_input_idxs.push_back(position);
    if (input) {
      const auto placeholder = item_at(whole.placeholders.size(), *input, "tuple");
      if (!placeholder) return tl::unexpected(placeholder.error());
      wrap.placeholders.push_back(whole.placeholders[*placeholder]);
    } else {
      wrap.placeholders.push_back(fmt::format("partition_{}_placeholder_{}", map.id.value_or(0), position));
    }
    ++position;
  }
  return {};
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

OrRaised<void> add_outputs(const torch::GraphPartitionMap& map, const Wrap& whole, Wrap& wrap) {
  const Positions visible =
      whole.user_visible_output_idxs ? as_set(*whole.user_visible_output_idxs) : Positions{};
  std::int64_t position = 0;
  for (const pickle::Value& value : *map.output_index_mapping) {
    const std::vector<std::int64_t> outputs = graph_outputs(value);
    if (outputs.empty()) {
      wrap.stack_traces_present.push_back(false);
    } else {
      if (!whole.has_stack_traces)
        return raise("TypeError", "'NoneType' object is not subscriptable", kSource);
      const auto seen = std::find_if(outputs.begin(), outputs.end(),
                                     [&](std::int64_t output) { return visible.contains(output); });
      const bool user_visible = seen != outputs.end();
      const auto trace =
          item_at(whole.stack_traces_present.size(), user_visible ? *seen : outputs.front(), "list");
      if (!trace) return tl::unexpected(trace.error());
      wrap.stack_traces_present.push_back(whole.stack_traces_present[*trace]);
      if (user_visible && wrap.user_visible_output_idxs) wrap.user_visible_output_idxs->push_back(position);
    }
    ++position;
  }
  return {};
}

OrRaised<std::uint64_t> count_constants(const torch::GraphPartitionMap& map, const ConstantNames& constants,
                                        const Rules& rules) {
  std::unordered_set<std::string_view> names;
  for (const std::string_view name : *map.constant_names) {
    const auto found = constants.find(name);
    const bool passed_on = found != constants.end() && (found->second || !rules.tensor_constants_only);
    if (!passed_on) return raise("KeyError", python_repr(name), kSource);
    names.insert(name);
  }
  return names.size();
}

}  // namespace

OrRaised<Wrap> partition_wrap(const torch::GraphPartitionMap& map, const Wrap& whole,
                              const ConstantNames& constants, const Rules& rules) {
  Wrap wrap;
  wrap.device_index = whole.device_index;
  wrap.is_backward = whole.is_backward;
  wrap.is_inference = whole.is_inference;
  wrap.kernel_free_cudagraph = whole.kernel_free_cudagraph;
  if (whole.user_visible_output_idxs) wrap.user_visible_output_idxs.emplace();
  wrap.partition = map.id.value_or(0);
  if (const auto added = add_inputs(map, whole, wrap); !added) return tl::unexpected(added.error());
  if (const auto added = add_outputs(map, whole, wrap); !added) return tl::unexpected(added.error());
  const auto count = count_constants(map, constants, rules);
  if (!count) return tl::unexpected(count.error());
  wrap.n_constants = *count;
  return wrap;
}

}  // namespace cachetool::replay
