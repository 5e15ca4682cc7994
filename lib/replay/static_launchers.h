#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/cache_files.h"
#include "replay/rules.h"
#include "torch/triton_bundle.h"

namespace cachetool::replay {

/// Whether the binaries of all kernels of `autotuner` are in the Triton cache, or can be put there from the
/// entry: then torch launches them without Triton, else it warns and compiles that kernel again. Files that
/// it puts there are added to `files` and `written`. Nothing where nobody can tell.
/// torch/_inductor/triton_bundler.py: TritonBundler.load_autotuners;
/// torch/_inductor/runtime/triton_heuristics.py: StaticTritonCompileResult.reload_cubin_path (2.8).
std::optional<bool> reload_binaries(const torch::StaticAutotuner& autotuner, CacheFiles& files,
                                    const Rules& rules, std::vector<std::string>& written);

}  // namespace cachetool::replay
