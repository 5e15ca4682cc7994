#include "torch/vec_isa.h"

#include <vector>

namespace cachetool::torch {
namespace {

using enum CpuFeature;

/// What torch.cpu._is_avx512_supported asks for (aten/src/ATen/cpu/Utils.cpp).
const CpuFeatures kAvx512{kAvx512F, kAvx512Vl, kAvx512Bw, kAvx512Dq};

/// The candidates that the processor allows, best first.
std::vector<std::string> x86_candidates(const CpuFeatures& usable, ReleaseFamily family) {
  const bool knows_vnni = family == ReleaseFamily::kUnknown || family >= ReleaseFamily::k2_10;
  const bool avx512 = usable.has_all(kAvx512);
  const bool vnni = avx512 && usable.has(kAvx512Vnni);
  std::vector<std::string> result;
  if (knows_vnni) {
    if (vnni && usable.has(kAmxTile)) result.emplace_back("avx512 avx512_vnni amx_tile");
    if (vnni) result.emplace_back("avx512 avx512_vnni");
  } else if (avx512 && usable.has(kAmxTile)) {
    result.emplace_back("avx512 amx_tile");
  }
  if (avx512) result.emplace_back("avx512");
  if (usable.has(kAvx2)) result.emplace_back("avx2");
  return result;
}

}  // namespace

std::string pick_vec_isa(const CpuFacts& cpu, std::optional<std::string_view> capability,
                         ReleaseFamily family) {
  if (cpu.architecture == "aarch64") return "asimd";
  if (cpu.architecture != "x86_64") return {};
  const auto candidates = x86_candidates(cpu.usable, family);
  if (candidates.empty()) return "none";
  if (capability == "default") return "none";
  if (capability == "avx2" || capability == "avx512") {
    for (const std::string& isa : candidates)
      if (isa.find(*capability) != std::string::npos) return isa;
  }
  return candidates.front();
}

}  // namespace cachetool::torch
