#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pickle/value.h"
#include "torch/field.h"
#include "torch/key_details.h"
#include "torch/list_view.h"
#include "torch/output_code.h"
#include "torch/plain.h"

namespace cachetool::torch {

/// torch/_functorch/_aot_autograd/schemas.py: OutputType (2.6), same numbers in all studied releases.
enum class OutputType : std::uint8_t {
  kNonAlias = 1,
  kAliasOfInput = 2,
  kIsInput = 3,
  kAliasOfIntermediateSaveAsOutput = 4,
  kAliasOfIntermediate = 5,
  kAliasOfIntermediateBaseIsUserOutput = 6,
  kUnsafeViewAlias = 7,
  kCustomFunctionView = 8,
};
/// torch's name: "non_alias", "alias_of_input", …; "unknown" for another number.
std::string_view output_type_name(std::int64_t type);

/// torch/_functorch/_aot_autograd/schemas.py: MutationType.
enum class MutationType : std::uint8_t { kNotMutated = 1, kMutatedInGraph = 2, kMutatedOutGraph = 3 };

/// schemas.py: InputAliasInfo.
struct InputAliasInfo {
  Field<bool> is_leaf;
  Field<bool> mutates_data;
  Field<bool> mutates_metadata;
  Field<bool> mutations_hidden_from_autograd;
  Field<bool> mutations_under_no_grad_or_inference_mode;
  Field<bool> mutation_inductor_storage_resize;
  Field<bool> mutates_storage_metadata;
  Field<bool> mutation_is_shallow_copy_data;
  Field<bool> requires_grad;
  Field<bool> keep_input_mutations;
  Field<std::int64_t> mutation_type;  ///< see MutationType
};

/// schemas.py: OutputAliasInfo.
struct OutputAliasInfo {
  Field<std::int64_t> output_type;  ///< see OutputType
  Field<std::string_view>
      raw_type;  ///< class name, "torch._subclasses.functional_tensor.FunctionalTensor" without module
  Field<std::int64_t> base_idx;
  Field<Ints> dynamic_dims;
  Field<bool> requires_grad;
  Field<bool> requires_grad_for_backward;
  Field<pickle::Value> view_meta_sequence;  ///< 2.8 on; in 2.6 `functional_tensor`
};

/// schemas.py: ViewAndMutationMeta, as far as it tells a user something; the rest counts as known and is
/// shown raw.
struct ViewAndMutationMeta {
  Field<std::vector<InputAliasInfo>> input_info;
  Field<std::vector<OutputAliasInfo>> output_info;
  Field<std::int64_t> num_intermediate_bases;
  Field<bool> keep_input_mutations;
  Field<Values>
      subclass_inp_meta;  ///< PlainTensorMeta or int for plain inputs, SubclassCreationMeta for subclasses
  Field<Values> subclass_fw_graph_out_meta;
  Field<Values> subclass_tangent_meta;
  Field<std::int64_t> num_symints_saved_for_bw;
  Field<bool> deterministic;
  Field<Ints> static_input_indices;
  Field<Ints> bw_donated_idxs;
  Field<Ints> mutated_graph_handled_indices;
  Field<Ints> mutated_inp_runtime_indices;
  Field<Ints> aliased_out_indices;
  Field<std::int64_t> num_outputs;
  Field<std::int64_t> num_outputs_aliased;
  Field<std::int64_t> num_outputs_aliased_to_inputs;
  Field<std::int64_t> num_outputs_aliased_to_intermediates;
  Field<std::int64_t> num_forward_returns;
  Field<bool> dynamic_outputs;
  Field<bool> is_train;
  Field<bool> is_rng_op_functionalized;
  Field<std::int64_t> num_graphsafe_rng_states;
  Field<std::string_view> compile_id_str;
  // Of interest because only some releases have them.
  Field<pickle::Value> traced_tangents_descs;       ///< 2.9 on
  Field<pickle::Value> mutated_inp_stream_indices;  ///< 2.11 on
  Field<pickle::Value> graphsafe_rng_device;        ///< 2.13 on
  Field<pickle::Value> act_input_paths;             ///< 2.14 on
  std::size_t subclass_inputs = 0;                  ///< inputs that are tensor subclasses
};

/// Which FX graph entry a compiled graph is, or the graph itself (bundled).
struct CompiledGraphRef {
  Field<std::string_view> fx_graph_cache_key;    ///< 'f…'; 2.8 on: first of fx_graph_cache_info
  Field<KeyDetails> key_details;                 ///< 2.8 on: second of fx_graph_cache_info
  Field<std::string_view> fx_graph_guard_expr;   ///< 2.8 on: must equal the FX entry's guards_expr
  std::unique_ptr<OutputCode> result;            ///< bundled: the compiled graph itself; else null
  Field<Ints> backward_state_indices;            ///< backward only
  Field<std::int64_t> num_symints_saved_for_bw;  ///< backward only: num_symints_saved_for_bw_
};

/// schemas.py: AOTConfig (to 2.12, callables None) or CacheableAOTConfig (2.13): the options of the compile.
struct AotConfig {
  Field<std::int64_t> num_params_buffers;
  Field<std::int64_t> aot_id;
  Field<bool> keep_inference_input_mutations;
  Field<bool> is_export;
  Field<bool> no_tangents;
  Field<bool> dynamic_shapes;
  Field<Values> aot_autograd_arg_pos_to_source;
  Field<Ints> static_input_indices;
  Field<bool> enable_log;
  Field<bool> pre_dispatch;
  Field<std::string_view> precompile_backend_id;
};

enum class AotEntryClass : std::uint8_t {
  kAOTAutogradCacheEntry,         ///< torch 2.5 to 2.9, by reference
  kBundledAOTAutogradCacheEntry,  ///< 2.8, 2.9
  kAOTAutogradResult,             ///< 2.10 on, by reference
  kBundledAOTAutogradResult,
};

/// An AOTAutograd cache entry of any release. torch/_functorch/_aot_autograd/autograd_cache.py:
/// AOTAutogradCacheEntry (2.5), aot_autograd_result.py: AOTAutogradResult (2.13).
struct AotAutogradEntry {
  AotEntryClass entry_class = AotEntryClass::kAOTAutogradCacheEntry;
  Field<CompiledGraphRef> compiled_fw;
  Field<CompiledGraphRef> compiled_bw;  ///< None for inference
  Field<std::string_view> aot_joint_graph_str;
  Field<std::string_view> aot_forward_graph_str;
  Field<std::string_view> aot_backward_graph_str;
  Field<std::string_view> min_cut_info_str;
  Field<ViewAndMutationMeta> runtime_metadata;
  Field<Values> dispatch_wrappers;
  Field<pickle::Value> maybe_subclass_meta;
  Field<std::int64_t> num_fw_outs_saved_for_bw;
  Field<Ints> indices_of_inps_to_detach;
  Field<std::int64_t> forward_time_taken_ns;
  Field<std::int64_t> backward_time_taken_ns;
  Field<AotConfig> sanitized_aot_config;
  Field<std::string_view> guards_expr;
  Field<pickle::Value>
      serialized_bw_module;  ///< SerializedGraphModule when a lazily compiled backward was kept

  bool bundled() const {
    return entry_class == AotEntryClass::kBundledAOTAutogradCacheEntry ||
           entry_class == AotEntryClass::kBundledAOTAutogradResult;
  }
};

}  // namespace cachetool::torch
