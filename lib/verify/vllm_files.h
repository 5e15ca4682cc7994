#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// What vLLM itself writes: each a FileCheck.

/// `vllm_compile_cache.py`: VllmIndexFacts.
Expected<Facts> check_vllm_index(FileInput& input, FileReport& report);
/// `cache_key_factors.json`: VllmFactorsFacts.
Expected<Facts> check_vllm_factors(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
