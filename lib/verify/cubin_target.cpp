#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "container/json.h"
#include "torch/tensor.h"
#include "verify/machine_checks.h"

namespace cachetool::verify {
namespace {

/// "bundled k.cubin " before what is said about a member of a file.
std::string subject(std::string_view member) {
  return member.empty() ? std::string() : fmt::format("{} ", member);
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

/// The members of `<kernel>.json` that are compared.
std::optional<KernelMetadata> read_metadata(const container::Tree& tree) {
  const container::Node root = tree.root();
  if (!root.is(container::NodeKind::kMap)) return std::nullopt;
  const auto name = root.find("name");
  if (!name || !name->is(container::NodeKind::kString)) return std::nullopt;
  KernelMetadata metadata;
  metadata.name = name->text();
  const auto warps = root.find("num_warps");
  if (warps && warps->is(container::NodeKind::kInteger)) metadata.num_warps = warps->as_integer();
  return metadata;
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

void compare_cubin(const container::Cubin& cubin, const KernelMetadata& metadata, std::string_view member,
                   FileReport& report) {
  const container::CubinKernel* kernel = cubin.find(metadata.name);
  if (kernel == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& held : cubin.kernels) names.push_back(held.name);
    const std::string holds =
        names.empty() ? std::string("no kernel") : fmt::format("{}", fmt::join(names, ", "));
    report.found(checks::kCubinKernel,
                 {fmt::format("{}holds {}; its metadata names {}", subject(member), holds, metadata.name)});
    return;
  }
  report.fine(checks::kCubinKernel);
  if (!kernel->threads || !metadata.num_warps)
    return report.not_checkable(checks::kCubinThreads, "the number of threads isn't stored");
  constexpr std::int64_t kMost = 1 << 20;  // a device allows 64 warps per block
  const std::int64_t threads = std::clamp<std::int64_t>(*metadata.num_warps, 0, kMost) * metadata.warp_size;
  if (threads == *kernel->threads) return report.fine(checks::kCubinThreads);
  report.found(checks::kCubinThreads,
               {fmt::format("{}was compiled for {} threads per block; its metadata says {} warps, {} threads",
                            subject(member), *kernel->threads, *metadata.num_warps, threads)});
}

void judge_bundle(const torch::TritonBundle& bundle, const TargetMachine* target, bool deep,
                  FileReport& report) {
  constexpr std::string_view kCubin = ".cubin";
  constexpr std::string_view kJson = ".json";
  for (const torch::TritonKernelArtifacts& kernel : bundle.kernel_artifacts) {
    std::map<std::string_view, std::string_view> texts;  // by name without suffix
    for (const torch::TritonArtifact& artifact : kernel.artifacts) {
      std::string_view name = artifact.filename;
      if (!name.ends_with(kJson)) continue;
      name.remove_suffix(kJson.size());
      texts.emplace(name, artifact.payload);
    }
    for (const torch::TritonArtifact& artifact : kernel.artifacts) {
      if (!artifact.filename.ends_with(kCubin)) continue;
      const std::string member = fmt::format("bundled {}", artifact.filename);
      const auto cubin = container::read_cubin(artifact.payload);
      if (!cubin) {
        if (deep)
          report.found(checks::kCubinKernel,
                       {fmt::format("{} can't be read: {}", member, cubin.error().message)});
        continue;
      }
      if (target != nullptr) judge_cubin(*cubin, member, *target, report);
      if (!deep) continue;
      const auto text = texts.find(artifact.filename.substr(0, artifact.filename.size() - kCubin.size()));
      if (text == texts.end()) {
        report.not_checkable(checks::kCubinKernel, "the bundle holds no metadata of the kernel");
        continue;
      }
      const auto tree = container::read_json(text->second, {});
      const auto metadata = tree ? read_metadata(*tree) : std::nullopt;
      if (!metadata) {
        report.not_checkable(checks::kCubinKernel, "the kernel's metadata can't be read");
        continue;
      }
      compare_cubin(*cubin, *metadata, member, report);
    }
  }
}

void judge_tensors(const pickle::Document& document, Budget& budget, FileReport& report) {
  for (const pickle::Value& call : document.calls()) {
    if (!torch::is_tensor(call)) continue;
    const auto tensor = torch::decode_tensor(call, budget);
    if (tensor && tensor->is_parameter) continue;  // the tensor in it is a call of its own
    const std::uint64_t offset = call.object().offset;
    if (!tensor) {
      report.found(checks::kTensorStorage, {"a tensor whose parts are not what torch writes", offset});
    } else if (!tensor->problem.empty()) {
      report.found(checks::kTensorStorage,
                   {fmt::format("a {} tensor: {}", tensor->dtype, tensor->problem), offset});
    } else {
      report.fine(checks::kTensorStorage);
    }
  }
}

}  // namespace cachetool::verify
