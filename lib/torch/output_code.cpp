#include "torch/output_code.h"

#include "torch/entry_readers.h"

namespace cachetool::torch {

using pickle::Value;

namespace {

// --- nested records
// ----------------------------------------------------------------------------------------------

constexpr Member<PlaceholderInfo> kPlaceholder[] = {
    {"name", kRead<&PlaceholderInfo::name>},
    {"stack_trace", kRead<&PlaceholderInfo::stack_trace>},
    {"users", kRead<&PlaceholderInfo::users>},
    {"mutating_use_stack_trace", kRead<&PlaceholderInfo::mutating_use_stack_trace>},
};

void read_placeholder(Reading& reading, const Path& path, const Value& value, PlaceholderInfo& out) {
  read_instance<PlaceholderInfo>(reading, path, value, "PlaceholderInfo", kPlaceholder, out);
}

void read_placeholders(Reading& reading, const Path& path, const Value& value, CudagraphCachedInfo& out) {
  read_records(reading, path, value, out.placeholders, read_placeholder);
}

constexpr Member<CudagraphCachedInfo> kCudagraphInfo[] = {
    {"placeholders", read_placeholders},
    {"stack_traces", kRead<&CudagraphCachedInfo::stack_traces>},
    {"user_visible_output_idxs", kRead<&CudagraphCachedInfo::user_visible_output_idxs>},
    {"cudagraph_fail_reasons", kRead<&CudagraphCachedInfo::cudagraph_fail_reasons>},
};

constexpr Member<GraphPartitionMap> kPartition[] = {
    {"id", kRead<&GraphPartitionMap::id>},
    {"input_index_mapping", kRead<&GraphPartitionMap::input_index_mapping>},
    {"output_index_mapping", kRead<&GraphPartitionMap::output_index_mapping>},
    {"constant_names", kRead<&GraphPartitionMap::constant_names>},
};

constexpr Member<CachedMetricsDeltas> kMetrics[] = {
    {"generated_kernel_count", kRead<&CachedMetricsDeltas::generated_kernel_count>},
    {"generated_cpp_vec_kernel_count", kRead<&CachedMetricsDeltas::generated_cpp_vec_kernel_count>},
    {"ir_nodes_pre_fusion", kRead<&CachedMetricsDeltas::ir_nodes_pre_fusion>},
    {"cpp_to_dtype_count", kRead<&CachedMetricsDeltas::cpp_to_dtype_count>},
    {"num_bytes_accessed", kRead<&CachedMetricsDeltas::num_bytes_accessed>},
    {"num_matches_for_scatter_upon_const_tensor",
     kRead<&CachedMetricsDeltas::num_matches_for_scatter_upon_const_tensor>},
};

constexpr Member<FxKwargs> kFxKwargs[] = {
    {"get_decomp_fn", kRead<&FxKwargs::get_decomp_fn>},
    {"static_input_idxs", kRead<&FxKwargs::static_input_idxs>},
    {"cudagraphs", kReadWith<&FxKwargs::cudagraphs, read_boxed_bool>},
    {"graph_id", kRead<&FxKwargs::graph_id>},
    {"is_inference", kRead<&FxKwargs::is_inference>},
    {"boxed_forward_device_index", kReadWith<&FxKwargs::boxed_forward_device_index, read_boxed_index>},
    {"is_backward", kRead<&FxKwargs::is_backward>},
    {"cpp_wrapper", kRead<&FxKwargs::cpp_wrapper>},
    {"fx_wrapper", kRead<&FxKwargs::fx_wrapper>},
    {"aot_mode", kRead<&FxKwargs::aot_mode>},
    {"user_visible_outputs", kRead<&FxKwargs::user_visible_outputs>},
    {"layout_opt", kRead<&FxKwargs::layout_opt>},
    {"extern_node_serializer", kRead<&FxKwargs::extern_node_serializer>},
};

void read_fx_kwargs(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  if (value.is_none()) return out.fx_kwargs.set_none();
  const auto dict = dict_view(value);
  if (!dict) return out.fx_kwargs.set_malformed(), reading.expected(path, "dict", value);
  FxKwargs& record = out.fx_kwargs.emplace();
  read_dict<FxKwargs>(reading, path, dict->given, kFxKwargs, record);
  read_dict<FxKwargs>(reading, path, dict->added, kFxKwargs, record);
}

void read_metrics(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  read_instance<CachedMetricsDeltas>(reading, path, value, "CachedMetricsDeltas", kMetrics,
                                     out.metrics_deltas);
}

void read_cudagraph_info(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  read_instance<CudagraphCachedInfo>(reading, path, value, "CudagraphCachedInfo", kCudagraphInfo,
                                     out.cudagraph_info);
}

void read_partition_maps(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  read_records(reading, path, value, out.partition_maps,
               [](Reading& r, const Path& p, const Value& v, GraphPartitionMap& record) {
                 read_instance<GraphPartitionMap>(r, p, v, "GraphPartitionMap", kPartition, record);
               });
}

void read_constants(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  if (value.is_none()) return out.constants.set_none();
  const auto dict = dict_view(value);
  if (!dict) return out.constants.set_malformed(), reading.expected(path, "dict", value);
  std::vector<Constant>& constants = out.constants.emplace();
  if (!reading.take(dict->size(), sizeof(Constant))) return;
  constants.reserve(dict->size());
  for (std::size_t i = 0; i < dict->size() && !reading.stopped(); ++i) {
    const pickle::Pair& pair = (*dict)[i];
    const Path constant_path{&path, pickle::text_or(pair.key, "?")};
    if (!pair.key.is(pickle::Tag::kString)) reading.expected(constant_path, "name", pair.key);
    Constant& constant = constants.emplace_back(Constant{pickle::text_or(pair.key), pair.value, {}});
    auto tensor = decode_tensor(pair.value, reading.budget());
    if (!tensor) {
      constant.tensor.set_malformed();
      // Generators, opaque objects and scripts are no tensors either, and torch does keep them here.
      if (is_tensor(pair.value))
        reading.note(constant_path, "a tensor of a form that isn't known", pair.value);
      continue;
    }
    if (!tensor->problem.empty()) reading.note(constant_path, tensor->problem, pair.value);
    constant.tensor = std::move(*tensor);
  }
}

void read_bundle(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  read_triton_bundle(reading, path, value, out.triton_bundle);
}

/// An output's strides: None, or a tuple of expressions (numbers in 2.4).
struct Strides {
  static constexpr std::string_view kName = "tuple of stride expressions";
  static bool matches(const Value& value) {
    if (value.is_none()) return true;
    const auto items = sequence_items(value);
    if (!items) return false;
    for (const Value& item : *items) {
      if (!item.is(pickle::Tag::kString) && !item.is(pickle::Tag::kInt)) return false;
    }
    return true;
  }
};

void read_output_strides(Reading& reading, const Path& path, const Value& value, CompiledFxGraph& out) {
  read(reading, path, value, out.output_strides);
  if (!out.output_strides) return;
  const auto outputs = out.output_strides->values();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto items = sequence_items(outputs[i]);
    if (!reading.step(items ? items->size() : 1)) return;
    if (!Strides::matches(outputs[i])) {
      out.output_strides.set_malformed();
      return reading.expected(Path{&path, {}, static_cast<std::int64_t>(i)}, Strides::kName, outputs[i]);
    }
  }
}

// --- the classes
// -------------------------------------------------------------------------------------------------

// In the order in which objects list them (2.15, then what only earlier releases have).
constexpr Member<CompiledFxGraph> kFxGraph[] = {
    {"current_callable", kRead<&CompiledFxGraph::current_callable>},
    {"compiled_fn_runner", kRead<&CompiledFxGraph::compiled_fn_runner>},
    {"recursively_apply_fns", kRead<&CompiledFxGraph::recursively_apply_fns>},
    {"cache_key", kRead<&CompiledFxGraph::cache_key>},
    {"source_code", kRead<&CompiledFxGraph::source_code>},
    {"runnable_graph_str", kRead<&CompiledFxGraph::runnable_graph_str>},
    {"inductor_post_grad_graph_str", kRead<&CompiledFxGraph::inductor_post_grad_graph_str>},
    {"inductor_provenance_mapping_str", kRead<&CompiledFxGraph::inductor_provenance_mapping_str>},
    {"inductor_provenance_stack_traces_str", kRead<&CompiledFxGraph::inductor_provenance_stack_traces_str>},
    {"cache_linemap", kRead<&CompiledFxGraph::cache_linemap>},
    {"device_types", kRead<&CompiledFxGraph::device_types>},
    {"device_idxs", kRead<&CompiledFxGraph::device_idxs>},
    {"mutated_inputs", kRead<&CompiledFxGraph::mutated_inputs>},
    {"mutated_input_idxs", kRead<&CompiledFxGraph::mutated_input_idxs>},
    {"constants", read_constants},
    {"frozen_param_names", kRead<&CompiledFxGraph::frozen_param_names>},
    {"torchbind_constants", kRead<&CompiledFxGraph::torchbind_constants>},
    {"opaque_value_type_classes", kRead<&CompiledFxGraph::opaque_value_type_classes>},
    {"output_strides", read_output_strides},
    {"disabled_cudagraphs_reason", kRead<&CompiledFxGraph::disabled_cudagraphs_reason>},
    {"kernel_free_cudagraph", kRead<&CompiledFxGraph::kernel_free_cudagraph>},
    {"metrics_deltas", read_metrics},
    {"counter_deltas", kRead<&CompiledFxGraph::counter_deltas>},
    {"guards_expr", kRead<&CompiledFxGraph::guards_expr>},
    {"extern_libs_key", kRead<&CompiledFxGraph::extern_libs_key>},
    {"cudagraph_info", read_cudagraph_info},
    {"partition_maps", read_partition_maps},
    {"has_uncaptured_partition", kRead<&CompiledFxGraph::has_uncaptured_partition>},
    {"_defers_input_alignment", kRead<&CompiledFxGraph::defers_input_alignment>},
    {"fx_kwargs", read_fx_kwargs},
    {"inputs_to_check", kRead<&CompiledFxGraph::inputs_to_check>},
    {"compile_region_name", kRead<&CompiledFxGraph::compile_region_name>},
    {"_compile_context", kRead<&CompiledFxGraph::compile_context>},
    {"_boxed_call", kRead<&CompiledFxGraph::boxed_call>},
    {"_wrap_compiled_regions", kRead<&CompiledFxGraph::wrap_compiled_regions>},
    {"_original_gm", kRead<&CompiledFxGraph::original_gm>},
    {"_serialized_original_gm", kReadWith<&CompiledFxGraph::serialized_original_gm, read_bytes>},
    {"_time_taken_ns", kRead<&CompiledFxGraph::time_taken_ns>},
    {"_fx_graph_cache_key", kRead<&CompiledFxGraph::fx_graph_cache_key>},
    {"_fx_graph_cache_debug_lines", kReadWith<&CompiledFxGraph::key_details, read_key_details>},
    {"_triton_bundle", read_bundle},
    {"allocated_constant_name", kRead<&CompiledFxGraph::allocated_constant_name>},
    {"boxed_forward_device_index", kReadWith<&CompiledFxGraph::boxed_forward_device_index, read_boxed_index>},
};

constexpr Member<CompiledAOTI> kAoti[] = {
    {"filename", kRead<&CompiledAOTI::filename>},
    {"device_type", kRead<&CompiledAOTI::device_type>},
    {"current_callable", kRead<&CompiledAOTI::current_callable>},
    {"_cached_files", kRead<&CompiledAOTI::cached_files>},
    {"_boxed_call", kRead<&CompiledAOTI::boxed_call>},
    {"_time_taken_ns", kRead<&CompiledAOTI::time_taken_ns>},
    {"_fx_graph_cache_key", kRead<&CompiledAOTI::fx_graph_cache_key>},
    {"_fx_graph_cache_debug_lines", kReadWith<&CompiledAOTI::key_details, read_key_details>},
};

constexpr Member<RegionalOutputCode> kRegional[] = {
    {"_graph_module", kRead<&RegionalOutputCode::graph_module>},
    {"_serialized_graph_module", kReadWith<&RegionalOutputCode::serialized_graph_module, read_bytes>},
    {"_serialized_wrappers", kRead<&RegionalOutputCode::serialized_wrappers>},
    {"_boxed_call", kRead<&RegionalOutputCode::boxed_call>},
    {"_inner_boxed_call", kRead<&RegionalOutputCode::inner_boxed_call>},
    {"_ops_filter", kRead<&RegionalOutputCode::ops_filter>},
    {"_node_metadata_key_filter", kRead<&RegionalOutputCode::node_metadata_key_filter>},
    {"_time_taken_ns", kRead<&RegionalOutputCode::time_taken_ns>},
    {"_fx_graph_cache_key", kRead<&RegionalOutputCode::fx_graph_cache_key>},
    {"_fx_graph_cache_debug_lines", kReadWith<&RegionalOutputCode::key_details, read_key_details>},
};

/// Torch moved these classes once: codecache (2.4, 2.5), then output_code.
bool is_class(const pickle::GlobalNode& cls, std::string_view name) {
  return cls.name == name &&
         (cls.module == "torch._inductor.output_code" || cls.module == "torch._inductor.codecache");
}

}  // namespace

bool is_output_code_class(const pickle::GlobalNode& cls) {
  return is_class(cls, "CompiledFxGraph") || is_class(cls, "CompiledAOTI") ||
         is_class(cls, "RegionalOutputCode");
}

OutputCode read_output_code(Reading& reading, const Path& path, const Value& value) {
  const pickle::GlobalNode* cls = class_of(value);
  if (cls != nullptr && is_class(*cls, "CompiledFxGraph")) {
    OutputCode code{std::in_place_type<CompiledFxGraph>};
    read_instance<CompiledFxGraph>(reading, path, value, cls->name, kFxGraph,
                                   std::get<CompiledFxGraph>(code));
    return code;
  }
  if (cls != nullptr && is_class(*cls, "CompiledAOTI")) {
    CompiledAOTI aoti;
    read_instance<CompiledAOTI>(reading, path, value, cls->name, kAoti, aoti);
    return aoti;
  }
  if (cls != nullptr && is_class(*cls, "RegionalOutputCode")) {
    RegionalOutputCode regional;
    read_instance<RegionalOutputCode>(reading, path, value, cls->name, kRegional, regional);
    return regional;
  }
  reading.unrecognised(path, value);
  if (cls == nullptr) return UnknownOutputCode{{}, {}, value};
  return UnknownOutputCode{cls->module, cls->name, value};
}

}  // namespace cachetool::torch
