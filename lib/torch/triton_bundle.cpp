#include "torch/triton_bundle.h"

#include "torch/entry_readers.h"

namespace cachetool::torch {

using pickle::Value;

namespace {

// --- artifacts
// -----------------------------------------------------------------------------------------------

struct ArtifactFields {
  Field<std::string_view> filename;
  Field<std::string_view> payload;
};

constexpr Member<ArtifactFields> kArtifact[] = {
    {"filename", kRead<&ArtifactFields::filename>},
    {"payload", kReadWith<&ArtifactFields::payload, read_bytes>},
};

void read_artifact(Reading& reading, const Path& path, const Value& value, TritonArtifact& out) {
  ArtifactFields fields;
  read_instance<ArtifactFields>(reading, path, value, "TritonKernelArtifact", kArtifact, fields);
  out.filename = fields.filename.value_or({});
  out.payload = fields.payload.value_or({});
}

void read_artifact_list(Reading& reading, const Path& path, const Value& value, TritonKernelArtifacts& out) {
  read_records(reading, path, value, out.artifacts, read_artifact);
}

constexpr Member<TritonKernelArtifacts> kArtifacts[] = {
    {"kernel_hash", kRead<&TritonKernelArtifacts::kernel_hash>},
    {"device", kRead<&TritonKernelArtifacts::device>},
    {"artifacts", read_artifact_list},
};

void read_artifacts(Reading& reading, const Path& path, const Value& value, TritonKernelArtifacts& out) {
  read_instance<TritonKernelArtifacts>(reading, path, value, "TritonKernelArtifacts", kArtifacts, out);
}

// --- statically launched kernels
// -------------------------------------------------------------------------------

constexpr Member<TritonConfig> kConfig[] = {
    {"kwargs", kRead<&TritonConfig::kwargs>},
    {"num_warps", kRead<&TritonConfig::num_warps>},
    {"num_stages", kRead<&TritonConfig::num_stages>},
    {"num_ctas", kRead<&TritonConfig::num_ctas>},
    {"maxnreg", kRead<&TritonConfig::maxnreg>},
    {"pre_hook"},
    {"ir_override"},
    {"dynamic_scale_rblock"},
    {"num_buffers_warp_spec"},
    {"num_consumer_groups"},
    {"reg_dec_producer"},
    {"reg_inc_consumer"},
    {"minRegAutoWS"},
    {"maxRegAutoWS"},
    {"found_by_coordesc"},
};

void read_config(Reading& reading, const Path& path, const Value& value, StaticKernel& out) {
  const pickle::GlobalNode* cls = class_of(value);
  const bool inductor = cls != nullptr && cls->name == "InductorConfig";
  read_instance<TritonConfig>(reading, path, value, inductor ? "InductorConfig" : "Config", kConfig,
                              out.config);
}

constexpr Member<StaticKernel> kKernel[] = {
    {"cubin_raw", kReadWith<&StaticKernel::cubin_raw, read_bytes>},
    {"name", kRead<&StaticKernel::name>},
    {"cubin_path", kRead<&StaticKernel::cubin_path>},
    {"arg_names", kRead<&StaticKernel::arg_names>},
    {"declared_constexprs", kRead<&StaticKernel::declared_constexprs>},
    {"hash", kRead<&StaticKernel::hash>},
    {"num_warps", kRead<&StaticKernel::num_warps>},
    {"shared", kRead<&StaticKernel::shared>},
    {"global_scratch_size", kRead<&StaticKernel::global_scratch_size>},
    {"global_scratch_align"},
    {"has_global_scratch", kRead<&StaticKernel::has_global_scratch>},
    {"profile_scratch_size", kRead<&StaticKernel::profile_scratch_size>},
    {"has_profile_scratch", kRead<&StaticKernel::has_profile_scratch>},
    {"tensordesc_meta"},
    {"_has_tensordesc"},
    {"tensordesc_arg_names"},
    {"full_constexprs", kRead<&StaticKernel::full_constexprs>},
    {"_tensordesc_idx"},
    {"arg_tys", kRead<&StaticKernel::arg_tys>},
    {"function"},
    {"module"},
    {"device_agnostic"},
    // Set where the kernel was loaded before it was saved: by the driver, or (2.11 on) as a cached property.
    {"n_regs"},
    {"n_spills"},
    {"C_impl"},
    {"functions"},
    {"modules"},
};

void read_kernel(Reading& reading, const Path& path, const Value& value, StaticKernel& out) {
  const pickle::GlobalNode* cls = class_of(value);
  const bool xpu = cls != nullptr && cls->name == "StaticallyLaunchedXpuKernel";
  read_instance<StaticKernel>(reading, path, value,
                              xpu ? "StaticallyLaunchedXpuKernel" : "StaticallyLaunchedCudaKernel", kKernel,
                              out);
}

constexpr Member<StaticKernel> kCompileResult[] = {
    {"kernel", read_kernel},
    {"config", read_config},
    {"compile_meta", kRead<&StaticKernel::compile_meta>},
    {"inductor_meta"},
};

void read_compile_result(Reading& reading, const Path& path, const Value& value, StaticKernel& out) {
  read_instance<StaticKernel>(reading, path, value, "StaticTritonCompileResult", kCompileResult, out);
}

void read_compile_results(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  read_records(reading, path, value, out.kernels, read_compile_result);
}

/// Text under `key` of a dict, or an absent field.
Field<std::string_view> text_in(const Field<DictView>& dict, std::string_view key) {
  if (!dict) return {};
  const Value* value = find(*dict, key);
  if (value == nullptr || !value->is(pickle::Tag::kString)) return {};
  return value->bytes();
}

void read_triton_meta(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  read(reading, path, value, out.triton_meta);
  if (!out.triton_meta) return;
  if (const Value* signature = find(*out.triton_meta, "signature")) {
    read(reading, Path{&path, "signature"}, *signature, out.signature);
  }
}

void read_inductor_meta(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  read(reading, path, value, out.inductor_meta);
  out.grid_type = text_in(out.inductor_meta, "grid_type");
}

void read_heuristic(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  Field<std::int64_t> number;
  read_enum(reading, path, value, number);
  if (number) out.heuristic = heuristic_name(*number);
}

void read_function(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  // triton.runtime.jit.JITFunction belongs to Triton: only the source text is of interest here.
  if (class_of(value) == nullptr) return reading.expected(path, "JITFunction", value);
  for_each_state(value.object(), [&](const pickle::DictNode& dict) {
    for (const std::string_view name : {"_src", "src"}) {
      const Value* text = pickle::find(dict, name);
      if (text != nullptr && text->is(pickle::Tag::kString))
        return static_cast<void>(out.source = text->bytes());
    }
  });
}

// torch/_inductor/runtime/triton_heuristics.py: CachingAutotuner, all attributes of 2.8 to 2.15.
constexpr Member<StaticAutotuner> kAutotuner[] = {
    {"fn", read_function},
    {"device_props"},
    {"triton_meta", read_triton_meta},
    {"inductor_meta", read_inductor_meta},
    {"deterministic_mode"},
    {"save_cache_hook"},
    {"mutated_arg_names", kRead<&StaticAutotuner::mutated_arg_names>},
    {"reset_to_zero_arg_names"},
    {"optimize_mem"},
    {"configs"},
    {"heuristic_type", read_heuristic},
    {"custom_kernel"},
    {"cuda_kernel_saved"},
    {"cpu_kernel_saved"},
    {"autotune_cache_info"},
    {"compile_results", read_compile_results},
    {"launchers"},
    {"lock"},
    {"benchmark_failure_reasons"},
    {"size_hints", kRead<&StaticAutotuner::size_hints>},
    {"is_mix_order_reduction"},
    {"coordesc_tuner"},
    {"filename", kRead<&StaticAutotuner::filename>},
    {"kernel_hash"},
    {"precompile_time_taken_ns", kRead<&StaticAutotuner::precompile_time_taken_ns>},
    {"autotune_time_taken_ns", kRead<&StaticAutotuner::autotune_time_taken_ns>},
    {"dump_launch_params"},
    {"dump_launch_tensors"},
    {"kernels_to_dump"},
    {"triton_interpret"},
    {"_debug_call"},
    {"_profiler_ctx"},
    {"_cached_launcher"},
    {"_cache_eligible"},
    {"_plugins"},
    {"compile_id"},
    {"is_backward"},
    {"grid_mode"},
    {"_reload_kernel"},
    {"regex_filter"},
    {"with_profiler"},
    {"with_bandwidth_info"},
    {"cached"},
    // Cached properties, where something asked for them before the kernel was saved.
    {"_could_rblock_scale"},
    {"_combo_has_reduction_subkernel"},
    {"_should_coordesc_tune"},
};

void read_caching_autotuner(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  const pickle::GlobalNode* cls = class_of(value);
  const bool debug = cls != nullptr && cls->name == "DebugAutotuner";
  read_instance<StaticAutotuner>(reading, path, value, debug ? "DebugAutotuner" : "CachingAutotuner",
                                 kAutotuner, out);
}

constexpr Member<StaticAutotuner> kStaticAutotuner[] = {
    {"cache_key", kRead<&StaticAutotuner::cache_key>},
    {"kernel_name", kRead<&StaticAutotuner::kernel_name>},
    {"kernel", read_caching_autotuner},
};

void read_static_autotuner(Reading& reading, const Path& path, const Value& value, StaticAutotuner& out) {
  read_instance<StaticAutotuner>(reading, path, value, "StaticallyLaunchedAutotuner", kStaticAutotuner, out);
}

constexpr Member<TritonBundle> kBundle[] = {
    {"kernel_artifacts",
     [](Reading& reading, const Path& path, const Value& value, TritonBundle& out) {
       read_records(reading, path, value, out.kernel_artifacts, read_artifacts);
     }},
    {"static_autotuners",
     [](Reading& reading, const Path& path, const Value& value, TritonBundle& out) {
       if (!value.is_none()) read_records(reading, path, value, out.static_autotuners, read_static_autotuner);
     }},
};

}  // namespace

std::string_view heuristic_name(std::int64_t number) {
  // torch/_inductor/runtime/hints.py: HeuristicType; auto() counts from 1, the order is the same from 2.6
  // to 2.15.
  static constexpr std::string_view kNames[] = {
      "PERSISTENT_REDUCTION", "POINTWISE", "REDUCTION", "SPLIT_SCAN", "TEMPLATE", "USER_AUTOTUNE", "FIXED"};
  return number >= 1 && number <= static_cast<std::int64_t>(std::size(kNames)) ? kNames[number - 1]
                                                                               : "unknown";
}

void read_triton_bundle(Reading& reading, const Path& path, const Value& value, Field<TritonBundle>& out) {
  if (value.is_none()) return out.set_none();
  if (!value.is(pickle::Tag::kList)) {
    return read_instance<TritonBundle>(reading, path, value, "TritonBundle", kBundle, out);
  }
  TritonBundle& bundle = out.emplace();  // 2.6, 2.7: the artifacts alone
  if (!read_records(reading, path, value, bundle.kernel_artifacts, read_artifacts)) out.set_malformed();
}

}  // namespace cachetool::torch
