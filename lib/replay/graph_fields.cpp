#include "replay/graph_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "pickle/sym_expr.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;
using torch::Field;

// A pickle names a text once and repeats it in two bytes, and a partition repeats the names of the graph's
// inputs, so few bytes of an entry could ask for many.
constexpr std::uint64_t kMaxArgumentBytes = 64 << 20;
constexpr std::uint64_t kMaxStrideBytes = 4 << 20;  // parsing them takes well under a second

template <class T>
bool malformed(const Field<T>& field) {
  return field.state() == torch::FieldState::kMalformed;
}

template <class T>
bool missing(const Field<T>& field) {
  return !field.has_value();
}

std::string not_as_written(std::string_view name) {
  return fmt::format("{} holds what torch never writes there", name);
}

// What the texts take as arguments and as reasons; an escaped character has up to ten.
std::optional<std::string> check_texts(const torch::CudagraphCachedInfo& info) {
  std::uint64_t bytes = 0;
  for (const torch::PlaceholderInfo& placeholder : *info.placeholders)
    bytes += placeholder.name->size() + sizeof(std::string);
  for (const std::string_view reason : *info.cudagraph_fail_reasons) bytes += reason.size() * 11;
  if (bytes <= kMaxArgumentBytes) return std::nullopt;
  return fmt::format("the texts of cudagraph_info would take more than {} MiB", kMaxArgumentBytes >> 20);
}

std::optional<std::string> check_info(const torch::CudagraphCachedInfo& info) {
  if (missing(info.cudagraph_fail_reasons)) return not_as_written("cudagraph_info.cudagraph_fail_reasons");
  if (missing(info.placeholders)) return not_as_written("cudagraph_info.placeholders");
  if (malformed(info.stack_traces)) return not_as_written("cudagraph_info.stack_traces");
  if (malformed(info.user_visible_output_idxs))
    return not_as_written("cudagraph_info.user_visible_output_idxs");
  for (const torch::PlaceholderInfo& placeholder : *info.placeholders) {
    if (missing(placeholder.name)) return not_as_written("the name of a placeholder in cudagraph_info");
  }
  return check_texts(info);
}

std::optional<std::string> check_partitions(const CompiledFxGraph& graph) {
  if (malformed(graph.partition_maps)) return not_as_written("partition_maps");
  if (!graph.partition_maps) return std::nullopt;
  std::uint64_t longest_name = 0;
  if (graph.cudagraph_info && graph.cudagraph_info->placeholders) {
    for (const torch::PlaceholderInfo& placeholder : *graph.cudagraph_info->placeholders)
      longest_name = std::max<std::uint64_t>(longest_name, placeholder.name.value_or({}).size());
  }
  std::uint64_t bytes = 0;
  for (const torch::GraphPartitionMap& map : *graph.partition_maps) {
    if (missing(map.id) || missing(map.input_index_mapping) || missing(map.output_index_mapping) ||
        missing(map.constant_names))
      return not_as_written("partition_maps");
    bytes += map.input_index_mapping->size() * (longest_name + 40);
    for (const pickle::Value& outputs : *map.output_index_mapping) {
      const auto several = torch::sequence_items(outputs);
      bytes += 16 * (1 + (several ? several->size() : 0));
    }
    if (bytes > kMaxArgumentBytes)
      return fmt::format("the arguments of its partitions would take more than {} MiB",
                         kMaxArgumentBytes >> 20);
  }
  return std::nullopt;
}

// set_tracing_context_output_strides evaluates every stride.
std::optional<std::string> check_strides(const CompiledFxGraph& graph) {
  if (malformed(graph.output_strides)) return not_as_written("output_strides");
  if (!graph.output_strides) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const pickle::Value& output : *graph.output_strides) {
    if (output.is_none()) continue;
    const auto strides = torch::sequence_items(output);
    if (!strides) return not_as_written("output_strides");
    for (const pickle::Value& stride : *strides) {
      if (stride.is(pickle::Tag::kInt)) continue;
      if (!stride.is(pickle::Tag::kString)) return not_as_written("output_strides");
      bytes += stride.bytes().size();
      if (bytes > kMaxStrideBytes)
        return fmt::format("the expressions in output_strides have more than {} MiB", kMaxStrideBytes >> 20);
      if (const auto parsed = pickle::SymExpr::parse(stride.bytes()); !parsed)
        return fmt::format("a stride in output_strides is no expression that is evaluated here: {}",
                           parsed.error().message);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unusable_field(const CompiledFxGraph& graph) {
  if (missing(graph.fx_kwargs)) return "fx_kwargs is missing, which says whether the graph is a backward";
  if (missing(graph.fx_kwargs->is_backward)) return not_as_written("fx_kwargs.is_backward");
  if (missing(graph.fx_kwargs->is_inference)) return not_as_written("fx_kwargs.is_inference");
  if (malformed(graph.fx_kwargs->static_input_idxs)) return not_as_written("fx_kwargs.static_input_idxs");
  if (malformed(graph.disabled_cudagraphs_reason)) return not_as_written("disabled_cudagraphs_reason");
  if (missing(graph.device_types)) return not_as_written("device_types");
  if (missing(graph.device_idxs)) return not_as_written("device_idxs");
  if (missing(graph.mutated_input_idxs)) return not_as_written("mutated_input_idxs");
  if (missing(graph.inputs_to_check)) return not_as_written("inputs_to_check");
  if (malformed(graph.boxed_forward_device_index)) return not_as_written("boxed_forward_device_index");
  if (malformed(graph.constants)) return not_as_written("constants");
  if (malformed(graph.cudagraph_info)) return not_as_written("cudagraph_info");
  if (malformed(graph.source_code)) return not_as_written("source_code");
  if (graph.cudagraph_info) {
    if (auto problem = check_info(*graph.cudagraph_info)) return problem;
  }
  if (auto problem = check_partitions(graph)) return problem;
  return check_strides(graph);
}

}  // namespace cachetool::replay
