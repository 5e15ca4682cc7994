#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/cpu_features.h"
#include "torch/entry_summary.h"

namespace cachetool::torch {

/// The vector instruction set that Inductor compiles C++ kernels for: "avx512 avx512_vnni amx_tile",
/// "avx512", "avx2", "asimd"; "none" where it finds none and writes scalar code. `capability` is
/// ATEN_CPU_CAPABILITY. Assumes a compiler and torch libraries that take it: torch also compiles and loads a
/// probe for each candidate. Empty for architectures whose rules aren't known here.
/// torch/_inductor/cpu_vec_isa.py: pick_vec_isa (2.6, 2.8, 2.9, 2.13 to 2.15).
std::string pick_vec_isa(const CpuFacts& cpu, std::optional<std::string_view> capability,
                         ReleaseFamily family);

}  // namespace cachetool::torch
