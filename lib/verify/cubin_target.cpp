#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "verify/machine_checks.h"

namespace cachetool::verify {
namespace {

/// "bundled k.cubin " before what is said about a member of a file.
std::string subject(std::string_view member) {
  return member.empty() ? std::string() : fmt::format("{} ", member);
}

/// A name from a file, for a message.
std::string shown(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  return escape_for_terminal(name.substr(0, kLongest));
}

std::string names_of(std::span<const container::CubinKernel> kernels) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kernels.size(), kNamed); ++i) names.push_back(shown(kernels[i].name));
  return names.empty() ? "no kernel" : fmt::format("{}", fmt::join(names, ", "));
}

std::string advice(const container::CudaTarget& code) {
  using container::CudaVariant;
  switch (code.variant) {
    case CudaVariant::kArchitecture:
      return fmt::format("{} runs on that architecture only", code.text());
    case CudaVariant::kFamily:
    case CudaVariant::kPlain:
    case CudaVariant::kUnknown:
      break;
  }
  return fmt::format("{} runs on compute capability {}.{} and later ones of {}.x", code.text(), code.major(),
                     code.minor(), code.major());
}

}  // namespace

void judge_cubin(const container::Cubin& cubin, std::string_view member, const TargetMachine& target,
                 FileReport& report) {
  if (!target.gpus) return;
  if (target.gpus->empty()) return report.not_checkable(checks::kCubinDevice, "no NVIDIA GPU is here");
  std::vector<std::string_view> names;
  for (const TargetGpu& gpu : *target.gpus) {
    if (!gpu.architecture) {
      return report.not_checkable(checks::kCubinDevice,
                                  fmt::format("the architecture of {} isn't known", gpu.name));
    }
    if (container::runs_on(cubin.target, *gpu.architecture)) return report.fine(checks::kCubinDevice);
    names.push_back(gpu.name);
  }
  report.found(checks::kCubinDevice,
               {fmt::format("{}is for {}, not for {}: {}", subject(member), cubin.target.text(),
                            fmt::join(names, ", "), advice(cubin.target)),
                member.empty() ? std::optional<std::uint64_t>(48) : std::nullopt});
}

void compare_kernels(std::span<const container::CubinKernel> kernels, const KernelMetadata& metadata,
                     std::string_view member, FileReport& report, std::vector<std::string> repair) {
  const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                   [&](const auto& held) { return held.name == metadata.name; });
  if (kernel == kernels.end()) {
    report.found(checks::kCubinKernel,
                 {.message = fmt::format("{}holds {}; its metadata names {}", subject(member),
                                         names_of(kernels), shown(metadata.name)),
                  .repair = std::move(repair)});
    return;
  }
  report.fine(checks::kCubinKernel);
  if (!kernel->threads || !metadata.num_warps)
    return report.not_checkable(checks::kCubinThreads, "the number of threads isn't stored");
  constexpr std::int64_t kMost = 1 << 20;  // a device allows 64 warps per block
  const std::int64_t threads = std::clamp<std::int64_t>(*metadata.num_warps, 0, kMost) * metadata.warp_size;
  if (threads == *kernel->threads) return report.fine(checks::kCubinThreads);
  report.found(checks::kCubinThreads,
               {.message = fmt::format(
                    "{}was compiled for {} threads per block; its metadata says {} warps, {} threads",
                    subject(member), *kernel->threads, *metadata.num_warps, threads),
                .repair = std::move(repair)});
}

}  // namespace cachetool::verify
