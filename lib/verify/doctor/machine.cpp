#include "verify/doctor/machine.h"

#include <algorithm>
#include <optional>

#include "store/paths.h"
#include "torch/vec_isa.h"
#include "verify/doctor/text_file.h"

namespace cachetool::verify {
namespace {

using torch::ReleaseFamily;

std::vector<VectorChoice> choose_vectors(const CpuFacts& cpu, const store::Environment& environment) {
  const auto capability = environment.get("ATEN_CPU_CAPABILITY");
  std::vector<VectorChoice> result;
  for (int i = static_cast<int>(ReleaseFamily::k2_6); i <= static_cast<int>(ReleaseFamily::k2_15); ++i) {
    const auto family = static_cast<ReleaseFamily>(i);
    const std::string isa = torch::pick_vec_isa(cpu, capability, family);
    if (isa.empty()) continue;
    if (!result.empty() && result.back().isa == isa) {
      result.back().last = family;
    } else {
      result.push_back({family, family, isa});
    }
  }
  return result;
}

std::vector<std::string> names_in(FileSystem& fs, const std::string& path) {
  std::vector<std::string> names;
  const auto directory = fs.open_root(path);
  if (!directory) return names;
  const auto entries = fs.list(**directory);
  if (!entries) return names;
  for (const DirEntry& entry : *entries) names.push_back(entry.name.str());
  return names;
}

std::string small_text(FileSystem& fs, const std::string& path) {
  return std::string(trimmed(read_text(fs, path, 4096).value_or("")));
}

std::string vendor_name(std::string_view id) {
  if (id == "0x10de") return "nvidia";
  if (id == "0x1002") return "amd";
  if (id == "0x8086") return "intel";
  return {};
}

/// `Model:           NVIDIA H200` of /proc/driver/nvidia/gpus/<address>/information.
std::string nvidia_model(FileSystem& fs, const std::string& address) {
  std::string model;
  const auto text = read_text(fs, "/proc/driver/nvidia/gpus/" + address + "/information", 65536);
  for_each_line(text.value_or(""), [&](std::string_view line) {
    constexpr std::string_view kLabel = "Model:";
    if (line.starts_with(kLabel)) model = trimmed(line.substr(kLabel.size()));
  });
  return model;
}

/// Display controllers on the PCI bus: class 0300 (VGA) and 0302 (3D). Not Intel's, which are processor
/// graphics more often than not, unless they are 3D or of class 0380.
std::vector<Gpu> read_gpus(FileSystem& fs) {
  std::vector<Gpu> gpus;
  const std::string bus = "/sys/bus/pci/devices";
  for (const std::string& address : names_in(fs, bus)) {
    const std::string place = store::join_path(bus, address) + "/";
    const std::string kind = small_text(fs, place + "class");
    if (!kind.starts_with("0x0300") && !kind.starts_with("0x0302") && !kind.starts_with("0x0380")) continue;
    const std::string vendor = vendor_name(small_text(fs, place + "vendor"));
    if (vendor.empty() || (vendor == "intel" && kind.starts_with("0x0300"))) continue;
    gpus.push_back({vendor, nvidia_model(fs, address), address});
  }
  if (!gpus.empty()) return gpus;
  // Containers often don't show the bus, but do show the driver's own list.
  for (const std::string& address : names_in(fs, "/proc/driver/nvidia/gpus"))
    gpus.push_back({"nvidia", nvidia_model(fs, address), address});
  return gpus;
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 …`, also "Open Kernel Module for
/// …".
std::string nvidia_driver(FileSystem& fs) {
  const auto text = read_text(fs, "/proc/driver/nvidia/version", 4096);
  if (!text || !text->starts_with("NVRM version:")) return {};
  std::string_view rest = std::string_view(*text).substr(0, text->find('\n'));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    const bool is_version = !word.empty() && word.find('.') != std::string_view::npos &&
                            word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (is_version) return std::string(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::vector<std::string> read_device_nodes(FileSystem& fs) {
  std::vector<std::string> nodes;
  for (const std::string& name : names_in(fs, "/dev"))
    if (name.starts_with("nvidia") || name == "kfd" || name == "dri" || name == "dxg")
      nodes.push_back("/dev/" + name);
  return nodes;
}

}  // namespace

Machine read_machine(FileSystem& fs, HostSystem& host, const store::Environment& environment) {
  Machine machine;
  machine.cpu = host.cpu();
  machine.vector_isa = choose_vectors(machine.cpu, environment);
  machine.kernel = small_text(fs, "/proc/sys/kernel/osrelease");
  machine.gpus = read_gpus(fs);
  machine.nvidia_driver = nvidia_driver(fs);
  machine.device_nodes = read_device_nodes(fs);
  return machine;
}

}  // namespace cachetool::verify
