#pragma once

#include "verify/damage.h"
#include "verify/file_checks.h"

namespace cachetool::verify {

/// `<hash>.best_config`: the configuration that autotuning chose for the kernel module beside it.
Expected<Facts> check_best_config(FileInput& input, FileReport& report);

/// The torch releases that give the autotune result of a module in the same directory this name; unknown when
/// none of the known builds does. torch/_inductor/runtime/autotune_cache.py: AutotuneCache._prepare_key and
/// _setup_local_cache (2.8), for an empty cache key tag.
ReleaseRange best_config_releases(const FileInput& input);

}  // namespace cachetool::verify
