#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "torch/decode.h"
#include "torch/plain.h"
#include "torch/wrapper_scan.h"

namespace cachetool::torch {

namespace {

constexpr std::size_t kOperators = 4;
constexpr std::size_t kMaxListed = 16;  // device types and indices of one entry; more are left out of the row

/// A row keeps no more of a text than a screen can show, whatever the entry says.
InternId intern_short(Interner& interner, std::string_view text) {
  constexpr std::size_t kLongest = 200;
  if (text.size() <= kLongest) return interner.intern(text);
  std::size_t length = kLongest;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return interner.intern(fmt::format("{}…", text.substr(0, length)));
}

/// Sorted, distinct, comma separated.
template <class T>
std::string join_sorted(std::vector<T> items) {
  std::ranges::sort(items);
  const auto repeated = std::ranges::unique(items);
  items.erase(repeated.begin(), repeated.end());
  return fmt::format("{}", fmt::join(items, ","));
}

template <class T>
InternId intern_set(const Field<ListView<T>>& items, Interner& interner) {
  if (!items || items->empty()) return 0;
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (items->size() == 1) return intern_short(interner, (*items)[0]);
  }
  std::vector<T> some;
  for (std::size_t i = 0; i < items->size() && i < kMaxListed; ++i) some.push_back((*items)[i]);
  return intern_short(interner, join_sorted(std::move(some)));
}

HashName parse_name(const Field<std::string_view>& text) {
  return text ? HashName::parse(*text).value_or(HashName{}) : HashName{};
}

template <class Count>
std::uint16_t saturated(Count count) {
  return static_cast<std::uint16_t>(std::min<Count>(count, 0xffff));
}

CudagraphFacts cudagraph_facts(const CompiledFxGraph& graph) {
  if (graph.disabled_cudagraphs_reason) return CudagraphFacts::kReasonStored;
  if (!graph.cudagraph_info) return CudagraphFacts::kInfoNone;
  const auto& reasons = graph.cudagraph_info->cudagraph_fail_reasons;
  if (reasons && !reasons->empty()) return CudagraphFacts::kFailReasonsStored;
  return CudagraphFacts::kNoStoredReason;
}

std::size_t triton_kernels(const TritonBundle& bundle) {
  return std::max(bundle.static_autotuners.size(), bundle.kernel_artifacts.size());
}

InternId intern_operators(std::string_view text, std::string_view fallback, Interner& interner) {
  std::vector<std::string_view> operators = first_operators(text, kOperators);
  if (operators.empty()) operators = first_operators(fallback, kOperators);
  return operators.empty() ? 0 : intern_short(interner, fmt::format("{}", fmt::join(operators, ", ")));
}

void summarize_graph(const CompiledFxGraph& graph, Interner& interner, EntrySummary& row) {
  const std::string_view source = graph.source_code.value_or({});
  row.cudagraphs = cudagraph_facts(graph);
  if (graph.partition_maps) row.partitions = saturated(graph.partition_maps->size());
  if (graph.triton_bundle) row.triton_kernels = saturated(triton_kernels(*graph.triton_bundle));
  if (graph.fx_kwargs) {
    row.is_backward = graph.fx_kwargs->is_backward.value_or(false);
    row.is_inference = graph.fx_kwargs->is_inference.value_or(false);
  }
  row.has_guards = row.has_guards || !graph.guards_expr.value_or({}).empty();
  if (graph.constants) row.constants = static_cast<std::uint32_t>(graph.constants->size());
  row.device_types = intern_set(graph.device_types, interner);
  row.device_indices = intern_set(graph.device_idxs, interner);
  row.operators = intern_operators(source, graph.inductor_post_grad_graph_str.value_or({}), interner);
  row.graph_name = intern_short(interner, graph_label(source));
  row.time_taken_ns = graph.time_taken_ns.value_or(-1);
  row.cache_key = parse_name(graph.cache_key);
}

/// Devices of the tensors that went into the key: "device=device(type='cuda', index=0)" in the text of each
/// input.
void summarize_inputs(const KeyDetails& details, Interner& interner, EntrySummary& row) {
  constexpr std::string_view kType = "device(type='";
  constexpr std::string_view kIndex = "', index=";
  std::vector<std::string_view> types;
  std::vector<std::int64_t> indices;
  for (const KeyComponent& input : details.example_inputs()) {
    const std::size_t at = input.text.find(kType);
    if (at == std::string_view::npos || types.size() >= kMaxListed) continue;
    std::string_view rest = input.text.substr(at + kType.size());
    const std::string_view type = rest.substr(0, rest.find('\''));
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    rest.remove_prefix(type.size());
    if (!rest.starts_with(kIndex)) continue;
    std::int64_t index = 0;
    for (const char c : rest.substr(kIndex.size(), 4)) {
      if (c < '0' || c > '9') break;
      index = index * 10 + (c - '0');
    }
    if (std::ranges::find(indices, index) == indices.end()) indices.push_back(index);
  }
  row.device_types = intern_short(interner, join_sorted(std::move(types)));
  row.device_indices = intern_short(interner, join_sorted(std::move(indices)));
}

void summarize_aot(const AotAutogradEntry& entry, Interner& interner, EntrySummary& row) {
  row.kind = EntryKind::kAotAutograd;
  row.bundled = entry.bundled();
  row.has_backward = entry.compiled_bw.has_value();
  row.is_inference = entry.compiled_bw.is_none();
  row.has_guards = !entry.guards_expr.value_or({}).empty();
  row.forward_time_ns = entry.forward_time_taken_ns.value_or(-1);
  row.backward_time_ns = entry.backward_time_taken_ns.value_or(-1);
  if (entry.compiled_bw) row.backward_graph = parse_name(entry.compiled_bw->fx_graph_cache_key);
  if (!entry.compiled_fw) return;
  const CompiledGraphRef& forward = *entry.compiled_fw;
  row.forward_graph = parse_name(forward.fx_graph_cache_key);
  if (forward.result != nullptr) {
    row.output_code = static_cast<OutputCodeClass>(forward.result->index() + 1);
    if (const auto* graph = std::get_if<CompiledFxGraph>(forward.result.get()))
      summarize_graph(*graph, interner, row);
    return;
  }
  if (forward.key_details) summarize_inputs(*forward.key_details, interner, row);
  row.operators = intern_operators(entry.aot_forward_graph_str.value_or({}), {}, interner);
  if (entry.sanitized_aot_config && entry.sanitized_aot_config->aot_id) {
    row.graph_name = intern_short(interner, fmt::format("{}", *entry.sanitized_aot_config->aot_id));
  }
}

static_assert(std::variant_size_v<OutputCode> == 4, "OutputCodeClass lists the alternatives in order");

}  // namespace

EntrySummary summarize(const Decoded& decoded, const HashName& key, const HashName& leaf,
                       Interner& interner) {
  EntrySummary row;
  row.key = key;
  row.leaf = leaf;
  const Release release = identify_release(decoded);
  row.family = release.first;
  row.family_last = release.last;
  row.exact_release = intern_short(interner, release.exact);
  row.class_name = intern_short(interner, decoded.class_name());
  row.torch_key_component = intern_short(interner, torch_identity(decoded));
  if (const OutputCode* code = decoded.output_code()) {
    row.output_code = static_cast<OutputCodeClass>(code->index() + 1);
    if (const auto* graph = std::get_if<CompiledFxGraph>(code)) summarize_graph(*graph, interner, row);
  } else if (const AotAutogradEntry* entry = decoded.aot_entry()) {
    summarize_aot(*entry, interner, row);
  }
  return row;
}

}  // namespace cachetool::torch
