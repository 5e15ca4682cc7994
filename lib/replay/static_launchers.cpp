#include "replay/static_launchers.h"

#include "verify/triton_name.h"

namespace cachetool::replay {
namespace {

using torch::ReleaseFamily;
using torch::StaticKernel;

// torch/_inductor/utils.py: GPU_KERNEL_BIN_EXTS (2.11).
std::string_view binary_ending(const StaticKernel& kernel, const Rules& rules) {
  if (rules.family < ReleaseFamily::k2_11 || !kernel.compile_meta) return ".cubin";
  const pickle::Value* type = torch::find(*kernel.compile_meta, "device_type");
  if (type == nullptr || !type->is(pickle::Tag::kString)) return ".cubin";
  if (type->bytes() == "hip") return ".hsaco";
  return type->bytes() == "xpu" ? ".zebin" : ".cubin";
}

// compile_meta.get("device", 0); nothing for the device that is current then.
std::optional<std::int64_t> device_of(const StaticKernel& kernel) {
  const pickle::Value* device = kernel.compile_meta ? torch::find(*kernel.compile_meta, "device") : nullptr;
  if (device == nullptr) return 0;
  if (device->is(pickle::Tag::kInt)) return device->as_int();
  return std::nullopt;
}

std::optional<bool> reload_binary(const StaticKernel& kernel, CacheFiles& files, const Rules& rules,
                                  std::vector<std::string>& written) {
  const auto device = device_of(kernel);
  if (!device || !kernel.name) return std::nullopt;
  const std::string name = std::string(*kernel.name) + std::string(binary_ending(kernel, rules));
  // The installed Triton decides how a hash becomes a name; only one of them can be there.
  std::optional<Place> first;
  for (const std::string& directory : verify::triton_directory_names(kernel.hash.value_or({}))) {
    const auto place = files.kernel_directory(*device, directory);
    if (!place) return std::nullopt;
    const auto there = files.exists(CacheFiles::in(*place, name));
    if (!there || *there) return there;
    if (!first) first = place;
  }
  if (!first) return std::nullopt;
  if (!kernel.cubin_raw) return false;
  if (kernel.cubin_path) return true;  // taken for written already
  files.add(*first, name);
  written.push_back(files.shown(CacheFiles::in(*first, name)));
  return true;
}

}  // namespace

std::optional<bool> reload_binaries(const torch::StaticAutotuner& autotuner, CacheFiles& files,
                                    const Rules& rules, std::vector<std::string>& written) {
  for (const StaticKernel& kernel : autotuner.kernels) {
    const auto found = reload_binary(kernel, files, rules, written);
    if (!found || !*found) return found;
  }
  return true;
}

}  // namespace cachetool::replay
