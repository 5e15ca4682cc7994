#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch/output_code.h"

namespace cachetool::torch {

/// One call of a kernel in the wrapper, with what is known of how it is launched. What isn't known is empty.
struct KernelLaunch {
  std::string kernel;
  std::string language;   ///< "triton", "cpp"
  std::string arguments;  ///< as the wrapper writes them
  std::string grid_type;  ///< "Grid1D", "grid" (2.6, where the call names it)
  std::string grid;       ///< formula for the three dimensions: "ceil(xnumel/XBLOCK), 1, 1"
  std::optional<std::array<std::int64_t, 3>>
      blocks;  ///< its value, where sizes and configuration are numbers
  std::vector<std::pair<std::string, std::int64_t>> config;  ///< "XBLOCK" → 128
  std::optional<std::int64_t> num_warps;
  std::optional<std::int64_t> num_stages;
  std::optional<std::int64_t> shared_bytes;
  std::uint32_t line = 0;  ///< in the wrapper, from 1

  /// Threads of a block: 32 for each warp.
  std::optional<std::int64_t> threads() const {
    if (!num_warps) return std::nullopt;
    return *num_warps * 32;
  }
};

/// The kernel calls of a graph in the order of the wrapper's text; a kernel that was compiled in several
/// configurations has a line for each. Configurations come from the entry's Triton bundle. Grids follow
/// torch/_inductor/runtime/triton_heuristics.py: GridExpr and its subclasses (2.9), grid (2.6).
std::vector<KernelLaunch> kernel_launches(const CompiledFxGraph& graph);

/// The formula of a grid type: "ceil(xnumel/XBLOCK), 1, 1"; empty for one that isn't known.
std::string_view grid_formula(std::string_view grid_type);

}  // namespace cachetool::torch
