#include "verify/file_checks.h"

#include "verify/best_config_file.h"
#include "verify/binary_files.h"
#include "verify/entry_file.h"
#include "verify/package_file.h"
#include "verify/packed_files.h"
#include "verify/side_files.h"
#include "verify/source_files.h"
#include "verify/state_files.h"
#include "verify/triton_files.h"
#include "verify/vllm_files.h"
#include "verify/vllm_model.h"

namespace cachetool::verify {

FileCheck file_check_for(store::ArtifactKind kind) {
  using Kind = store::ArtifactKind;
  switch (kind) {
    case Kind::kFxGraphEntry:
    case Kind::kAotAutogradEntry:
      return check_entry_file;
    case Kind::kPythonModule:
      return check_python_module;
    case Kind::kCppSource:
    case Kind::kOptimizedSource:
      return check_cpp_source;
    case Kind::kHeader:
      return check_header;
    case Kind::kBestConfig:
      return check_best_config;
    case Kind::kKernelPerf:
      return check_kernel_perf;
    case Kind::kPgoState:
      return check_pgo_state;
    case Kind::kPrecompile:
      return check_precompile;
    case Kind::kSharedObject:
    case Kind::kTritonLauncher:
    case Kind::kTritonDriver:
      return check_shared_object;
    case Kind::kObjectFile:
      return check_object_file;
    case Kind::kGpuBinary:
      return check_gpu_binary;
    case Kind::kPrecompiledHeader:
      return check_precompiled_header;
    case Kind::kBuildError:
      return check_build_error;
    case Kind::kBenchmarkCache:
      return check_benchmark_cache;
    case Kind::kMemoizer:
      return check_memoizer;
    case Kind::kEagerAoti:
      return check_eager_aoti;
    case Kind::kTritonMetadata:
      return check_triton_metadata;
    case Kind::kTritonGroup:
      return check_triton_group;
    case Kind::kTritonIr:
    case Kind::kTritonSource:
      return check_triton_text;
    case Kind::kTritonBinary:
      return check_triton_binary;
    case Kind::kTritonAutotune:
      return check_triton_autotune;
    case Kind::kMegaCache:
      return check_mega_cache;
    case Kind::kStandaloneArtifact:
      return check_standalone;
    case Kind::kAotiPackage:
      return check_package;
    case Kind::kAotiFile:
      return check_aoti_file;
    case Kind::kCuteDsl:
      return check_cute_object;
    case Kind::kVllmIndex:
      return check_vllm_index;
    case Kind::kVllmFactors:
      return check_vllm_factors;
    case Kind::kVllmModel:
      return check_vllm_model;
    default:
      return nullptr;
  }
}

}  // namespace cachetool::verify
