#include "torch/aot_entry.h"

#include "torch/entry_readers.h"

namespace cachetool::torch {

using pickle::Value;

namespace {

/// Name of a class that was pickled as such (`torch.Tensor`).
void read_class(Reading& reading, const Path& path, const Value& value, Field<std::string_view>& out) {
  if (value.is_none()) return out.set_none();
  const std::string_view name = torch_constant_name(value);
  if (name.empty()) return out.set_malformed(), reading.expected(path, "class", value);
  out = name;
}

// --- metadata (torch/_functorch/_aot_autograd/schemas.py)
// ----------------------------------------------------------

constexpr Member<InputAliasInfo> kInputInfo[] = {
    {"is_leaf", kRead<&InputAliasInfo::is_leaf>},
    {"mutates_data", kRead<&InputAliasInfo::mutates_data>},
    {"mutates_metadata", kRead<&InputAliasInfo::mutates_metadata>},
    {"mutations_hidden_from_autograd", kRead<&InputAliasInfo::mutations_hidden_from_autograd>},
    {"mutations_under_no_grad_or_inference_mode",
     kRead<&InputAliasInfo::mutations_under_no_grad_or_inference_mode>},
    {"mutation_inductor_storage_resize", kRead<&InputAliasInfo::mutation_inductor_storage_resize>},
    {"mutates_storage_metadata", kRead<&InputAliasInfo::mutates_storage_metadata>},
    {"mutation_is_shallow_copy_data", kRead<&InputAliasInfo::mutation_is_shallow_copy_data>},
    {"requires_grad", kRead<&InputAliasInfo::requires_grad>},
    {"keep_input_mutations", kRead<&InputAliasInfo::keep_input_mutations>},
    {"mutation_type", kReadWith<&InputAliasInfo::mutation_type, read_enum>},
};

constexpr Member<OutputAliasInfo> kOutputInfo[] = {
    {"output_type", kReadWith<&OutputAliasInfo::output_type, read_enum>},
    {"raw_type", kReadWith<&OutputAliasInfo::raw_type, read_class>},
    {"base_idx", kRead<&OutputAliasInfo::base_idx>},
    {"dynamic_dims", kRead<&OutputAliasInfo::dynamic_dims>},
    {"requires_grad", kRead<&OutputAliasInfo::requires_grad>},
    {"requires_grad_for_backward", kRead<&OutputAliasInfo::requires_grad_for_backward>},
    {"view_meta_sequence", kRead<&OutputAliasInfo::view_meta_sequence>},
    {"functional_tensor", kRead<&OutputAliasInfo::view_meta_sequence>},
};

void read_input_info(Reading& reading, const Path& path, const Value& value, ViewAndMutationMeta& out) {
  read_records(reading, path, value, out.input_info,
               [](Reading& r, const Path& p, const Value& v, InputAliasInfo& record) {
                 read_instance<InputAliasInfo>(r, p, v, "InputAliasInfo", kInputInfo, record);
               });
}

void read_output_info(Reading& reading, const Path& path, const Value& value, ViewAndMutationMeta& out) {
  read_records(reading, path, value, out.output_info,
               [](Reading& r, const Path& p, const Value& v, OutputAliasInfo& record) {
                 read_instance<OutputAliasInfo>(r, p, v, "OutputAliasInfo", kOutputInfo, record);
               });
}

void read_subclass_inputs(Reading& reading, const Path& path, const Value& value, ViewAndMutationMeta& out) {
  read(reading, path, value, out.subclass_inp_meta);
  if (!out.subclass_inp_meta) return;
  for (const Value& meta : out.subclass_inp_meta->values()) {
    const pickle::GlobalNode* cls = class_of(meta);
    if (cls != nullptr && cls->name == "SubclassCreationMeta") ++out.subclass_inputs;
  }
}

// All attributes of 2.5 to 2.15 in the order of 2.15.
constexpr Member<ViewAndMutationMeta> kMetadata[] = {
    {"input_info", read_input_info},
    {"output_info", read_output_info},
    {"num_intermediate_bases", kRead<&ViewAndMutationMeta::num_intermediate_bases>},
    {"keep_input_mutations", kRead<&ViewAndMutationMeta::keep_input_mutations>},
    {"traced_tangents"},
    {"traced_tangents_descs", kRead<&ViewAndMutationMeta::traced_tangents_descs>},
    {"subclass_inp_meta", read_subclass_inputs},
    {"subclass_fw_graph_out_meta", kRead<&ViewAndMutationMeta::subclass_fw_graph_out_meta>},
    {"subclass_tangent_meta", kRead<&ViewAndMutationMeta::subclass_tangent_meta>},
    {"is_train", kRead<&ViewAndMutationMeta::is_train>},
    {"traced_tangent_metas"},
    {"num_symints_saved_for_bw", kRead<&ViewAndMutationMeta::num_symints_saved_for_bw>},
    {"num_tensors_saved_with_no_vc_check"},
    {"num_opaque_objects_saved_for_bw"},
    {"saved_tensor_is_graph_input"},
    {"grad_enabled_mutation"},
    {"deterministic", kRead<&ViewAndMutationMeta::deterministic>},
    {"static_input_indices", kRead<&ViewAndMutationMeta::static_input_indices>},
    {"act_input_indices"},
    {"act_input_paths", kRead<&ViewAndMutationMeta::act_input_paths>},
    {"tokens"},
    {"indices_of_inputs_that_requires_grad_with_mutations_in_bw"},
    {"bw_donated_idxs", kRead<&ViewAndMutationMeta::bw_donated_idxs>},
    {"num_backward_tokens"},
    {"num_graphsafe_rng_states", kRead<&ViewAndMutationMeta::num_graphsafe_rng_states>},
    {"graphsafe_rng_state_index"},
    {"graphsafe_rng_device", kRead<&ViewAndMutationMeta::graphsafe_rng_device>},
    {"mutated_inp_stream_indices", kRead<&ViewAndMutationMeta::mutated_inp_stream_indices>},
    {"compile_id_str", kRead<&ViewAndMutationMeta::compile_id_str>},
    {"tangent_source_stack_traces"},
    {"mutated_graph_handled_indices", kRead<&ViewAndMutationMeta::mutated_graph_handled_indices>},
    {"num_mutated_graph_handled_indices"},
    {"mutated_graph_handled_indices_seen_by_autograd"},
    {"num_mutated_graph_handled_indices_seen_by_autograd"},
    {"mutated_inp_runtime_indices", kRead<&ViewAndMutationMeta::mutated_inp_runtime_indices>},
    {"num_mutated_inp_runtime_indices"},
    {"aliased_out_indices", kRead<&ViewAndMutationMeta::aliased_out_indices>},
    {"unsafe_view_out_indices"},
    {"num_outputs", kRead<&ViewAndMutationMeta::num_outputs>},
    {"num_outputs_non_aliased"},
    {"num_outputs_aliased_to_inputs", kRead<&ViewAndMutationMeta::num_outputs_aliased_to_inputs>},
    {"num_unsafe_view_outputs"},
    {"num_outputs_aliased_to_intermediates",
     kRead<&ViewAndMutationMeta::num_outputs_aliased_to_intermediates>},
    {"num_outputs_aliased", kRead<&ViewAndMutationMeta::num_outputs_aliased>},
    {"dynamic_outputs", kRead<&ViewAndMutationMeta::dynamic_outputs>},
    {"dynamic_saved_tensors_idxs"},
    {"output_types"},
    {"is_rng_op_functionalized", kRead<&ViewAndMutationMeta::is_rng_op_functionalized>},
    {"num_outputs_rng_offset"},
    {"num_forward_returns", kRead<&ViewAndMutationMeta::num_forward_returns>},
    {"num_forward"},
};

void read_metadata(Reading& reading, const Path& path, const Value& value, AotAutogradEntry& out) {
  read_instance<ViewAndMutationMeta>(reading, path, value, "ViewAndMutationMeta", kMetadata,
                                     out.runtime_metadata);
}

// --- options
// -------------------------------------------------------------------------------------------------------

// AOTConfig (2.8 to 2.12) and CacheableAOTConfig (2.13 on).
constexpr Member<AotConfig> kConfig[] = {
    {"fw_compiler"},
    {"bw_compiler"},
    {"partition_fn"},
    {"decompositions"},
    {"num_params_buffers", kRead<&AotConfig::num_params_buffers>},
    {"aot_id", kRead<&AotConfig::aot_id>},
    {"keep_inference_input_mutations", kRead<&AotConfig::keep_inference_input_mutations>},
    {"is_export", kRead<&AotConfig::is_export>},
    {"no_tangents", kRead<&AotConfig::no_tangents>},
    {"dynamic_shapes", kRead<&AotConfig::dynamic_shapes>},
    {"aot_autograd_arg_pos_to_source", kRead<&AotConfig::aot_autograd_arg_pos_to_source>},
    {"static_input_indices", kRead<&AotConfig::static_input_indices>},
    {"inference_compiler"},
    {"enable_log", kRead<&AotConfig::enable_log>},
    {"pre_dispatch", kRead<&AotConfig::pre_dispatch>},
    {"cache_info"},
    {"ignore_shape_env"},
    {"precompile_backend_id", kRead<&AotConfig::precompile_backend_id>},
    {"force_non_lazy_backward_lowering"},
    {"export_trace_joint"},
    {"disable_functionalization"},
    {"_disable_torch_fn_metadata_mode"},
};

void read_config(Reading& reading, const Path& path, const Value& value, AotAutogradEntry& out) {
  const pickle::GlobalNode* cls = class_of(value);
  const bool cacheable = cls != nullptr && cls->name == "CacheableAOTConfig";
  read_instance<AotConfig>(reading, path, value, cacheable ? "CacheableAOTConfig" : "AOTConfig", kConfig,
                           out.sanitized_aot_config);
}

// --- the compiled graphs
// -------------------------------------------------------------------------------------------

/// fx_graph_cache_info: (key, debug lines).
void read_cache_info(Reading& reading, const Path& path, const Value& value, CompiledGraphRef& out) {
  if (value.is_none()) return out.fx_graph_cache_key.set_none();
  const auto items = sequence_items(value);
  if (!items || items->size() != 2) {
    out.fx_graph_cache_key.set_malformed();
    return reading.expected(path, "pair of key and debug lines", value);
  }
  read(reading, Path{&path, {}, 0}, (*items)[0], out.fx_graph_cache_key);
  read_key_details(reading, Path{&path, {}, 1}, (*items)[1], out.key_details);
}

void read_result(Reading& reading, const Path& path, const Value& value, CompiledGraphRef& out) {
  if (!reading.take(1, sizeof(OutputCode))) return;
  out.result = std::make_unique<OutputCode>(read_output_code(reading, path, value));
}

constexpr Member<CompiledGraphRef> kGraphRef[] = {
    {"result", read_result},
    {"fx_graph_cache_key", kRead<&CompiledGraphRef::fx_graph_cache_key>},
    {"fx_graph_cache_info", read_cache_info},
    {"fx_graph_guard_expr", kRead<&CompiledGraphRef::fx_graph_guard_expr>},
    {"backward_state_indices", kRead<&CompiledGraphRef::backward_state_indices>},
    {"num_symints_saved_for_bw_", kRead<&CompiledGraphRef::num_symints_saved_for_bw>},
};

void read_graph(Reading& reading, const Path& path, const Value& value, std::string_view name,
                std::string_view bundled_name, Field<CompiledGraphRef>& out) {
  const pickle::GlobalNode* cls = class_of(value);
  const bool bundled = cls != nullptr && cls->name == bundled_name;
  read_instance<CompiledGraphRef>(reading, path, value, bundled ? bundled_name : name, kGraphRef, out);
}

void read_forward(Reading& reading, const Path& path, const Value& value, AotAutogradEntry& out) {
  read_graph(reading, path, value, "CompiledForward", "BundledCompiledForward", out.compiled_fw);
}

void read_backward(Reading& reading, const Path& path, const Value& value, AotAutogradEntry& out) {
  read_graph(reading, path, value, "CompiledBackward", "BundledCompiledBackward", out.compiled_bw);
}

constexpr Member<AotAutogradEntry> kEntry[] = {
    {"compiled_fw", read_forward},
    {"compiled_bw", read_backward},
    {"aot_joint_graph_str", kRead<&AotAutogradEntry::aot_joint_graph_str>},
    {"aot_forward_graph_str", kRead<&AotAutogradEntry::aot_forward_graph_str>},
    {"aot_backward_graph_str", kRead<&AotAutogradEntry::aot_backward_graph_str>},
    {"min_cut_info_str", kRead<&AotAutogradEntry::min_cut_info_str>},
    {"runtime_metadata", read_metadata},
    {"dispatch_wrappers", kRead<&AotAutogradEntry::dispatch_wrappers>},
    {"maybe_subclass_meta", kRead<&AotAutogradEntry::maybe_subclass_meta>},
    {"num_fw_outs_saved_for_bw", kRead<&AotAutogradEntry::num_fw_outs_saved_for_bw>},
    {"indices_of_inps_to_detach", kRead<&AotAutogradEntry::indices_of_inps_to_detach>},
    {"forward_time_taken_ns", kRead<&AotAutogradEntry::forward_time_taken_ns>},
    {"backward_time_taken_ns", kRead<&AotAutogradEntry::backward_time_taken_ns>},
    {"sanitized_aot_config", read_config},
    {"guards_expr", kRead<&AotAutogradEntry::guards_expr>},
    {"serialized_bw_module", kRead<&AotAutogradEntry::serialized_bw_module>},
};

}  // namespace

std::string_view output_type_name(std::int64_t type) {
  static constexpr std::string_view kNames[] = {
      "non_alias",
      "alias_of_input",
      "is_input",
      "alias_of_intermediate_save_as_output",
      "alias_of_intermediate",
      "alias_of_intermediate_base_is_user_output",
      "unsafe_view_alias",
      "custom_function_view",
  };
  return type >= 1 && type <= static_cast<std::int64_t>(std::size(kNames)) ? kNames[type - 1] : "unknown";
}

std::optional<AotEntryClass> aot_entry_class(const pickle::GlobalNode& cls) {
  if (cls.module == "torch._functorch._aot_autograd.autograd_cache") {
    if (cls.name == "AOTAutogradCacheEntry") return AotEntryClass::kAOTAutogradCacheEntry;
    if (cls.name == "BundledAOTAutogradCacheEntry") return AotEntryClass::kBundledAOTAutogradCacheEntry;
  }
  if (cls.module == "torch._functorch._aot_autograd.aot_autograd_result") {
    if (cls.name == "AOTAutogradResult") return AotEntryClass::kAOTAutogradResult;
    if (cls.name == "BundledAOTAutogradResult") return AotEntryClass::kBundledAOTAutogradResult;
  }
  return std::nullopt;
}

AotAutogradEntry read_aot_entry(Reading& reading, const Path& path, const Value& value,
                                AotEntryClass entry_class) {
  AotAutogradEntry entry;
  entry.entry_class = entry_class;
  read_instance<AotAutogradEntry>(reading, path, value, class_of(value)->name, kEntry, entry);
  return entry;
}

}  // namespace cachetool::torch
