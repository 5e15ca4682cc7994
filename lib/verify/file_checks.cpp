#include "verify/file_checks.h"

#include "verify/binary_files.h"
#include "verify/entry_file.h"
#include "verify/side_files.h"
#include "verify/triton_files.h"

namespace cachetool::verify {

FileCheck file_check_for(store::ArtifactKind kind) {
  using Kind = store::ArtifactKind;
  switch (kind) {
    case Kind::kFxGraphEntry:
    case Kind::kAotAutogradEntry:
      return check_entry_file;
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
    default:
      return nullptr;
  }
}

}  // namespace cachetool::verify
