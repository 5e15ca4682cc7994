#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "pickle/value.h"
#include "torch/field.h"
#include "torch/key_details.h"
#include "torch/list_view.h"
#include "torch/notes.h"
#include "torch/plain.h"
#include "torch/tensor.h"
#include "torch/triton_bundle.h"

namespace cachetool::torch {

/// What a compiled graph object holds, under torch's own names, for torch 2.4 to 2.15. Everything is a view
/// into the Document. A field that a release doesn't have is absent (see Field).

/// One name and the tensor that torch attached to the wrapper module under it.
struct Constant {
  std::string_view name;
  pickle::Value value;   ///< as stored, also when it is no tensor
  Field<Tensor> tensor;  ///< kMalformed when `value` isn't one
};

/// torch/_inductor/cudagraph_utils.py: PlaceholderInfo.
struct PlaceholderInfo {
  Field<std::string_view> name;
  Field<std::string_view> stack_trace;
  Field<Values> users;  ///< of class PlaceholderInfo, one level deep
  Field<std::string_view> mutating_use_stack_trace;
};

/// What a BoxedDeviceIndex holds. A field of this type is None where there is no box at all.
using BoxedIndex = std::optional<std::int64_t>;

/// torch/_inductor/cudagraph_utils.py: CudagraphCachedInfo.
struct CudagraphCachedInfo {
  Field<std::vector<PlaceholderInfo>> placeholders;
  Field<OptionalTexts> stack_traces;
  Field<Ints> user_visible_output_idxs;  ///< 2.15
  Field<Texts> cudagraph_fail_reasons;
};

/// torch/_inductor/utils.py: GraphPartitionMap (2.8).
struct GraphPartitionMap {
  Field<std::int64_t> id;
  Field<OptionalInts> input_index_mapping;
  Field<Values> output_index_mapping;  ///< 2.8 to 2.13: int or None each; 2.14 on: a list of int each
  Field<Texts> constant_names;
};

/// torch/_inductor/metrics.py: CachedMetricsDeltas.
struct CachedMetricsDeltas {
  Field<std::int64_t> generated_kernel_count;
  Field<std::int64_t> generated_cpp_vec_kernel_count;
  Field<std::int64_t> ir_nodes_pre_fusion;
  Field<std::int64_t> cpp_to_dtype_count;
  Field<std::int64_t> num_bytes_accessed;
  Field<std::int64_t> num_matches_for_scatter_upon_const_tensor;
};

/// The arguments of compile_fx_inner that post-compile uses again. torch/_inductor/compile_fx.py:
/// _CompileFxKwargs.
struct FxKwargs {
  Field<bool> cudagraphs;  ///< value of the BoxedBool (or a bare bool)
  Field<Ints> static_input_idxs;
  Field<bool> is_backward;
  Field<std::int64_t> graph_id;
  Field<bool> cpp_wrapper;
  Field<bool> fx_wrapper;                     ///< 2.9 on
  Field<bool> aot_mode;                       ///< 2.5, 2.6
  Field<pickle::Value> user_visible_outputs;  ///< 2.5
  Field<bool> is_inference;
  Field<bool> layout_opt;
  Field<BoxedIndex> boxed_forward_device_index;
  Field<pickle::Value> extern_node_serializer;
  Field<pickle::Value> get_decomp_fn;  ///< 2.12 on: a global
};

struct CompiledFxGraph {
  Field<pickle::Value> current_callable;       ///< always None on disk
  Field<pickle::Value> compiled_fn_runner;     ///< always None on disk
  Field<pickle::Value> recursively_apply_fns;  ///< always None on disk
  Field<std::string_view> cache_key;           ///< 'c…': name of the wrapper module
  Field<std::string_view> source_code;         ///< text of the wrapper module
  Field<std::string_view> runnable_graph_str;
  Field<std::string_view> inductor_post_grad_graph_str;
  Field<std::string_view> inductor_provenance_mapping_str;
  Field<std::string_view> inductor_provenance_stack_traces_str;
  Field<Values> cache_linemap;  ///< pairs (line, stack trace or None)
  Field<Texts> device_types;
  Field<Ints> device_idxs;
  Field<Texts> mutated_inputs;
  Field<Ints> mutated_input_idxs;
  Field<std::vector<Constant>> constants;
  Field<DictView> allocated_constant_name;  ///< 2.6: module name → attribute of the frozen graph
  Field<DictView> frozen_param_names;       ///< 2.7 on: the same
  Field<DictView> torchbind_constants;
  Field<DictView> opaque_value_type_classes;
  Field<Values> output_strides;  ///< per output None or a tuple of expressions (str; int in 2.4)
  Field<std::string_view> disabled_cudagraphs_reason;
  Field<bool> kernel_free_cudagraph;
  Field<CachedMetricsDeltas> metrics_deltas;
  Field<DictView> counter_deltas;  ///< counter name → int
  Field<std::string_view> guards_expr;
  Field<std::string_view> extern_libs_key;
  Field<CudagraphCachedInfo> cudagraph_info;
  Field<std::vector<GraphPartitionMap>> partition_maps;
  Field<bool> has_uncaptured_partition;
  Field<bool> defers_input_alignment;  ///< _defers_input_alignment
  Field<FxKwargs> fx_kwargs;
  Field<Ints> inputs_to_check;
  Field<BoxedIndex> boxed_forward_device_index;  ///< 2.5 to 2.7
  Field<std::string_view> compile_region_name;
  Field<pickle::Value> compile_context;            ///< _compile_context
  Field<bool> boxed_call;                          ///< _boxed_call
  Field<bool> wrap_compiled_regions;               ///< _wrap_compiled_regions
  Field<pickle::Value> original_gm;                ///< _original_gm
  Field<std::string_view> serialized_original_gm;  ///< _serialized_original_gm: GraphPickler bytes
  Field<std::int64_t> time_taken_ns;               ///< _time_taken_ns
  Field<std::string_view> fx_graph_cache_key;      ///< _fx_graph_cache_key
  Field<KeyDetails> key_details;                   ///< _fx_graph_cache_debug_lines
  Field<TritonBundle> triton_bundle;               ///< _triton_bundle
};

/// Output of AOTInductor compilation. torch/_inductor/output_code.py: CompiledAOTI.
struct CompiledAOTI {
  Field<pickle::Value> filename;  ///< str, or a list of str and weights
  Field<std::string_view> device_type;
  Field<pickle::Value> current_callable;
  Field<DictView> cached_files;  ///< _cached_files: name → bytes
  Field<bool> boxed_call;
  Field<std::int64_t> time_taken_ns;
  Field<std::string_view> fx_graph_cache_key;
  Field<KeyDetails> key_details;
};

/// A graph that was compiled in regions. torch/_inductor/output_code.py: RegionalOutputCode (2.10).
struct RegionalOutputCode {
  Field<std::string_view> serialized_graph_module;  ///< GraphPickler bytes, not decoded
  Field<pickle::Value> graph_module;
  Field<pickle::Value> ops_filter;
  Field<Values> serialized_wrappers;  ///< 2.11 on
  Field<pickle::Value> node_metadata_key_filter;
  Field<bool> boxed_call;
  Field<bool> inner_boxed_call;
  Field<std::int64_t> time_taken_ns;
  Field<std::string_view> fx_graph_cache_key;
  Field<KeyDetails> key_details;
};

/// An object of a class that no studied release stores; `value` shows what it holds.
struct UnknownOutputCode {
  std::string_view module;
  std::string_view name;
  pickle::Value value;
};

using OutputCode = std::variant<CompiledFxGraph, CompiledAOTI, RegionalOutputCode, UnknownOutputCode>;

}  // namespace cachetool::torch
