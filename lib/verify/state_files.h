#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// `dynamo/code_state_*.pkl`: what was learnt about dynamic shapes. torch/_dynamo/pgo.py (2.6 to 2.14).
Expected<Facts> check_pgo_state(FileInput& input, FileReport& report);
/// `dynamo/<id>/entry`: a precompiled function. torch/_dynamo/package.py: DiskDynamoStore (2.9 to 2.14).
Expected<Facts> check_precompile(FileInput& input, FileReport& report);
/// `c….kernel_perf`: one or two measured times as text. torch/_inductor/codegen/triton.py (2.8 to 2.14).
Expected<Facts> check_kernel_perf(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
