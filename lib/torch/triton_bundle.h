#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pickle/value.h"
#include "torch/field.h"
#include "torch/list_view.h"
#include "torch/plain.h"

namespace cachetool::torch {

/// One file of a compiled Triton kernel. torch/_inductor/triton_bundler.py: TritonKernelArtifact.
struct TritonArtifact {
  std::string_view filename;
  std::string_view payload;  ///< bytes; in .json the cache directory is replaced by "[REPLACE]"
};

/// All files of one kernel directory. torch/_inductor/triton_bundler.py: TritonKernelArtifacts.
struct TritonKernelArtifacts {
  Field<std::string_view> kernel_hash;  ///< name of the directory in the Triton cache
  Field<std::int64_t> device;
  std::vector<TritonArtifact> artifacts;
};

/// A Triton configuration: XBLOCK and such, warps, stages. triton/runtime/autotuner.py: Config.
struct TritonConfig {
  Field<DictView> kwargs;
  Field<std::int64_t> num_warps;
  Field<std::int64_t> num_stages;
  Field<std::int64_t> num_ctas;
  Field<std::int64_t> maxnreg;
};

/// What launching a kernel without Triton takes. torch/_inductor/runtime/static_cuda_launcher.py (2.8
/// to 2.9), static_triton_launcher.py (2.10 on): StaticallyLaunchedCudaKernel.
struct StaticKernel {
  Field<std::string_view> name;
  Field<std::string_view> hash;  ///< of the compiled kernel, 64 hex digits
  Field<Texts> arg_names;
  Field<std::string_view>
      arg_tys;  ///< one letter per argument: O pointer, i h b l I H B K integers, f d floats
  Field<Ints> declared_constexprs;
  Field<Ints> full_constexprs;
  Field<std::int64_t> num_warps;
  Field<std::int64_t> shared;  ///< bytes of dynamic shared memory
  Field<bool> has_global_scratch;
  Field<bool> has_profile_scratch;
  Field<std::int64_t> global_scratch_size;   ///< bytes, 2.15
  Field<std::int64_t> profile_scratch_size;  ///< bytes, 2.15
  Field<std::string_view> cubin_raw;
  Field<std::string_view> cubin_path;
  TritonConfig config;           ///< of the StaticTritonCompileResult that holds the kernel
  Field<DictView> compile_meta;  ///< signature, constants, device, cc, …
};

/// torch's name of a HeuristicType member: "POINTWISE", "REDUCTION", …; "unknown" for another number.
std::string_view heuristic_name(std::int64_t number);

/// A kernel with the configurations that were compiled for it. torch/_inductor/triton_bundler.py:
/// StaticallyLaunchedAutotuner with its CachingAutotuner.
struct StaticAutotuner {
  Field<std::string_view> cache_key;  ///< 'c' + B(kernel text + "||" + torch_key)
  Field<std::string_view> kernel_name;
  Field<std::string_view> filename;   ///< kernel module, absolute path of the machine that compiled
  Field<std::string_view> grid_type;  ///< "Grid1D", "Grid2D", …; from inductor_meta
  Field<std::string_view> heuristic;  ///< "POINTWISE", "REDUCTION", …
  Field<DictView> signature;  ///< argument → Triton type ("*fp32", "i32", "constexpr"); from triton_meta
  Field<DictView> triton_meta;
  Field<DictView> inductor_meta;
  Field<DictView> size_hints;
  Field<Texts> mutated_arg_names;
  Field<std::string_view> source;  ///< text of the jitted function
  Field<std::int64_t> precompile_time_taken_ns;
  Field<std::int64_t> autotune_time_taken_ns;
  std::vector<StaticKernel> kernels;  ///< compile_results, in order
};

/// `_triton_bundle` of an entry: a list of artifacts up to 2.6, an object of class TritonBundle since.
struct TritonBundle {
  std::vector<TritonKernelArtifacts> kernel_artifacts;
  std::vector<StaticAutotuner> static_autotuners;
};

}  // namespace cachetool::torch
