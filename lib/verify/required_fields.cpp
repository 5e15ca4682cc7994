#include "verify/required_fields.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace cachetool::verify {
namespace {

using torch::AotAutogradEntry;
using torch::CompiledFxGraph;
using torch::FieldState;
using enum torch::ReleaseFamily;

enum class None : bool { kAllowed, kRefused };

template <class Record>
struct Required {
  std::string_view name;
  torch::ReleaseFamily since;  ///< the first release that reads it
  None none;
  FieldState (*state)(const Record&);
};

template <auto Pointer>
struct StateOf;
template <class Record, class F, F Record::* Pointer>
struct StateOf<Pointer> {
  static FieldState get(const Record& record) { return (record.*Pointer).state(); }
};
template <auto Pointer>
constexpr auto* kState = &StateOf<Pointer>::get;

constexpr Required<CompiledFxGraph> kGraphFields[] = {
    {"guards_expr", k2_4, None::kAllowed, kState<&CompiledFxGraph::guards_expr>},
    {"extern_libs_key", k2_12, None::kAllowed, kState<&CompiledFxGraph::extern_libs_key>},
    {"cache_key", k2_4, None::kRefused, kState<&CompiledFxGraph::cache_key>},
    {"source_code", k2_4, None::kRefused, kState<&CompiledFxGraph::source_code>},
    {"cache_linemap", k2_4, None::kAllowed, kState<&CompiledFxGraph::cache_linemap>},
    {"constants", k2_4, None::kAllowed, kState<&CompiledFxGraph::constants>},
    {"frozen_param_names", k2_7, None::kAllowed, kState<&CompiledFxGraph::frozen_param_names>},
    {"opaque_value_type_classes", k2_10, None::kRefused, kState<&CompiledFxGraph::opaque_value_type_classes>},
    {"metrics_deltas", k2_4, None::kRefused, kState<&CompiledFxGraph::metrics_deltas>},
    {"counter_deltas", k2_5, None::kRefused, kState<&CompiledFxGraph::counter_deltas>},
    {"output_strides", k2_4, None::kAllowed, kState<&CompiledFxGraph::output_strides>},
    {"disabled_cudagraphs_reason", k2_4, None::kAllowed,
     kState<&CompiledFxGraph::disabled_cudagraphs_reason>},
    {"device_types", k2_4, None::kRefused, kState<&CompiledFxGraph::device_types>},
    {"device_idxs", k2_4, None::kRefused, kState<&CompiledFxGraph::device_idxs>},
    {"cudagraph_info", k2_5, None::kAllowed, kState<&CompiledFxGraph::cudagraph_info>},
    {"fx_kwargs", k2_5, None::kRefused, kState<&CompiledFxGraph::fx_kwargs>},
    {"inputs_to_check", k2_5, None::kRefused, kState<&CompiledFxGraph::inputs_to_check>},
    {"mutated_input_idxs", k2_4, None::kRefused, kState<&CompiledFxGraph::mutated_input_idxs>},
};

constexpr Required<AotAutogradEntry> kAotFields[] = {
    {"guards_expr", k2_8, None::kAllowed, kState<&AotAutogradEntry::guards_expr>},
    {"compiled_fw", k2_5, None::kRefused, kState<&AotAutogradEntry::compiled_fw>},
    {"compiled_bw", k2_5, None::kAllowed, kState<&AotAutogradEntry::compiled_bw>},
    {"runtime_metadata", k2_5, None::kRefused, kState<&AotAutogradEntry::runtime_metadata>},
    {"dispatch_wrappers", k2_5, None::kRefused, kState<&AotAutogradEntry::dispatch_wrappers>},
    {"maybe_subclass_meta", k2_5, None::kAllowed, kState<&AotAutogradEntry::maybe_subclass_meta>},
    {"num_fw_outs_saved_for_bw", k2_5, None::kAllowed, kState<&AotAutogradEntry::num_fw_outs_saved_for_bw>},
    {"indices_of_inps_to_detach", k2_5, None::kRefused, kState<&AotAutogradEntry::indices_of_inps_to_detach>},
    {"forward_time_taken_ns", k2_6, None::kRefused, kState<&AotAutogradEntry::forward_time_taken_ns>},
    {"backward_time_taken_ns", k2_6, None::kRefused, kState<&AotAutogradEntry::backward_time_taken_ns>},
};

template <class Record>
std::vector<std::string> missing(const Record& record, std::span<const Required<Record>> table,
                                 torch::ReleaseFamily release) {
  std::vector<std::string> found;
  for (const Required<Record>& field : table) {
    if (release < field.since) continue;
    const FieldState state = field.state(record);
    if (state == FieldState::kAbsent) found.push_back(std::string(field.name) + " is missing");
    if (state == FieldState::kNone && field.none == None::kRefused)
      found.push_back(std::string(field.name) + " is None");
  }
  return found;
}

}  // namespace

std::vector<std::string> missing_fields(const CompiledFxGraph& graph, torch::ReleaseFamily release) {
  return missing<CompiledFxGraph>(graph, kGraphFields, release == kUnknown ? k2_4 : release);
}

std::vector<std::string> missing_fields(const AotAutogradEntry& entry, torch::ReleaseFamily release) {
  return missing<AotAutogradEntry>(entry, kAotFields, release == kUnknown ? k2_5 : release);
}

bool is_required_field(std::string_view name) {
  return std::any_of(std::begin(kGraphFields), std::end(kGraphFields),
                     [&](const Required<CompiledFxGraph>& field) { return field.name == name; });
}

}  // namespace cachetool::verify
