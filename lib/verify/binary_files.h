#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// Compiled things: each a FileCheck.

/// `c….so` and what Triton builds for itself (`cuda_utils….so`, `__triton_launcher….so`).
Expected<Facts> check_shared_object(FileInput& input, FileReport& report);
/// `c….o`.
Expected<Facts> check_object_file(FileInput& input, FileReport& report);
/// `c….cubin`, `.hsaco`, `.ptx` in a shard, whose name is a hash of their bytes.
Expected<Facts> check_gpu_binary(FileInput& input, FileReport& report);
/// The binary in a Triton directory.
Expected<Facts> check_triton_binary(FileInput& input, FileReport& report);
/// What AOTInductor writes below a directory of the cache, by the file's ending.
Expected<Facts> check_aoti_file(FileInput& input, FileReport& report);
/// `….o` of CuTe DSL and its kin; other files of theirs are left alone.
Expected<Facts> check_cute_object(FileInput& input, FileReport& report);
/// By size only: such headers are huge.
Expected<Facts> check_precompiled_header(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
