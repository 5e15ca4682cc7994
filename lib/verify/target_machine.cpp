#include "verify/target_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "store/paths.h"

namespace cachetool::verify {
namespace {

using F = CpuFeature;

Error usage(std::string message) {
  return Error{
      ErrorCode::kUsage, std::move(message), {}, {}, "host, or arch=sm_90,cpu=avx2|avx512|amx,torch=DIR"};
}

/// "cpython-311-x86_64-linux-gnu" from the extension module that every torch package has; empty without it.
std::string python_tag_of(FileSystem& fs, const std::string& torch) {
  constexpr std::string_view kPrefix = "_C.";
  constexpr std::string_view kSuffix = ".so";
  for (const std::string& name : list_path(fs, torch)) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    if (name.size() <= kPrefix.size() + kSuffix.size()) continue;
    const std::string tag = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    if (tag.starts_with("cpython-")) return tag;
  }
  return {};
}

/// "python3.11" from "cpython-311-x86_64-linux-gnu".
std::string program_name(std::string_view tag) {
  constexpr std::string_view kPrefix = "cpython-";
  if (!tag.starts_with(kPrefix)) return {};
  tag.remove_prefix(kPrefix.size());
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(tag.begin(), tag.end(), is_digit) - tag.begin());
  if (digits < 2) return {};
  return fmt::format("python{}.{}", tag.substr(0, 1), tag.substr(1, digits - 1));
}

/// The installation that PREFIX/lib/python3.11/site-packages/torch belongs to; empty for another layout.
std::string prefix_of(std::string_view torch) {
  const std::string_view packages = directory_of_path(torch);
  const std::string_view python = directory_of_path(packages);
  const std::string_view lib = directory_of_path(python);
  const std::string_view name = python.substr(python.rfind('/') + 1);
  if (!name.starts_with("python3")) return {};
  return std::string(directory_of_path(lib));
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (one.starts_with('/')) parts.emplace_back(one);
  }
  return parts;
}

LibraryPlaces places_of(FileSystem& fs, const store::Environment& environment, const std::string& torch,
                        const std::string& python_tag, std::uint16_t elf_machine) {
  LibraryPlaces places;
  places.elf_machine = elf_machine;
  places.torch = torch;
  if (const auto list = environment.get("LD_LIBRARY_PATH")) places.directories = split(*list);
  const std::string prefix = prefix_of(torch);
  if (prefix.empty()) return places;
  // The interpreter of a conda environment has its lib directory as run path, and so has what it loads.
  if (fs.open_root(prefix + "/conda-meta"))
    places.directories.insert(places.directories.begin(), prefix + "/lib");
  const std::string program = prefix + "/bin/" + program_name(python_tag);
  if (!python_tag.empty() && open_path(fs, program)) places.program = program;
  return places;
}

std::uint16_t elf_machine_of(const CpuFacts& cpu) {
  return cpu.architecture == "aarch64" ? container::kMachineAArch64 : container::kMachineX86_64;
}

Status add_part(std::string_view part, TargetRequest& request) {
  const std::size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
  const auto twice = [&] { return tl::unexpected(usage(fmt::format("\"{}\" is given twice", name))); };
  if (part == "host") {
    if (request.host) return twice();
    request.host = true;
    return {};
  }
  if (name == "arch") {
    if (request.gpu) return twice();
    request.gpu = container::parse_cuda_target(value);
    if (!request.gpu) return tl::unexpected(usage(fmt::format("\"{}\" is no GPU architecture", value)));
    return {};
  }
  if (name == "cpu") {
    if (!request.cpu.empty()) return twice();
    if (!cpu_level(value)) return tl::unexpected(usage(fmt::format("\"{}\" is no processor level", value)));
    request.cpu = value;
    return {};
  }
  if (name == "torch") {
    if (!request.torch.empty()) return twice();
    if (value.empty()) return tl::unexpected(usage("torch= needs a directory"));
    request.torch = value;
    return {};
  }
  return tl::unexpected(usage(fmt::format("\"{}\" is no machine", part)));
}

}  // namespace

Expected<TargetRequest> parse_target(std::string_view text) {
  TargetRequest request;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (auto added = add_part(text.substr(at, end - at), request); !added)
      return tl::unexpected(std::move(added.error()));
    at = end + 1;
  }
  return request;
}

std::optional<CpuFeatures> cpu_level(std::string_view name) {
  const CpuFeatures avx2 = {F::kSse3,  F::kSsse3, F::kSse41, F::kSse42, F::kPopcnt,
                            F::kMovbe, F::kLzcnt, F::kAvx,   F::kF16c,  F::kFma,
                            F::kAvx2,  F::kBmi1,  F::kBmi2,  F::kAes,   F::kPclmulqdq};
  const CpuFeatures avx512 = avx2.with({F::kAvx512F, F::kAvx512Cd, F::kAvx512Bw, F::kAvx512Dq, F::kAvx512Vl});
  const CpuFeatures amx =
      avx512.with({F::kAvx512Ifma, F::kAvx512Vbmi, F::kAvx512Vbmi2, F::kAvx512Vnni, F::kAvx512Bitalg,
                   F::kAvx512Vpopcntdq, F::kAvx512Bf16, F::kAvx512Fp16, F::kGfni, F::kVaes, F::kVpclmulqdq,
                   F::kAvxVnni, F::kSha, F::kAmxTile, F::kAmxInt8, F::kAmxBf16});
  if (name == "avx2") return avx2;
  if (name == "avx512") return avx512;
  if (name == "amx") return amx;
  return std::nullopt;
}

Expected<TargetMachine> describe_target(FileSystem& fs, const store::Environment& environment,
                                        const HostFacts& host, const TargetRequest& request) {
  TargetMachine target;
  if (!request.cpu.empty()) {
    target.cpu = TargetCpu{"cpu=" + request.cpu, container::kMachineX86_64, cpu_level(request.cpu)};
  } else if (request.host) {
    target.cpu = TargetCpu{"this machine's processor", elf_machine_of(host.cpu), {}};
    if (!host.cpu.usable.empty()) target.cpu->features = host.cpu.usable;
  }
  if (request.gpu) {
    target.gpus = std::vector{TargetGpu{"arch=" + request.gpu->text(), request.gpu}};
  } else if (request.host) {
    target.gpus.emplace();
    for (const std::string& model : host.gpu_models)
      target.gpus->push_back({model.empty() ? "a GPU without a driver" : model, gpu_architecture(model)});
  }
  std::string torch;
  if (!request.torch.empty()) {
    torch = store::absolute_path(environment, request.torch);
    if (!open_path(fs, torch + "/lib/libtorch_cpu.so")) {
      if (!open_path(fs, torch + "/torch/lib/libtorch_cpu.so"))
        return fail(ErrorCode::kNotFound, "no torch package: lib/libtorch_cpu.so isn't there", torch, {},
                    "name the directory that `import torch` loads from, such as site-packages/torch");
      torch += "/torch";
    }
  } else if (request.host || request.libraries) {
    torch = host.torch;
  }
  target.judges_system = request.host || request.libraries;
  if (!torch.empty()) target.python_tag = python_tag_of(fs, torch);
  if (target.judges_system || !torch.empty()) {
    target.libraries = std::make_unique<Libraries>(
        fs, places_of(fs, environment, torch, target.python_tag, elf_machine_of(host.cpu)));
  }
  return target;
}

}  // namespace cachetool::verify
