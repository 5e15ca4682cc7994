#include "verify/host_facts.h"

#include "verify/path_file.h"

namespace cachetool::verify {
namespace {

/// "NVIDIA H200" from the line "Model: \t\t NVIDIA H200" of the driver's text.
std::string model_of(std::string_view text) {
  constexpr std::string_view kLabel = "Model:";
  std::size_t at = text.starts_with(kLabel) ? 0 : text.find("\nModel:");
  if (at == std::string_view::npos) return {};
  text.remove_prefix(text.find(':', at) + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") + 1 - first));
}

}  // namespace

HostFacts read_host_facts(FileSystem& fs, const store::Environment&) {
  const std::string gpus = "/proc/driver/nvidia/gpus";
  HostFacts facts;
  facts.cpu = this_cpu();
  for (const std::string& address : list_path(fs, gpus)) {
    const auto text = read_path(fs, gpus + "/" + address + "/information", 64 << 10);
    facts.gpu_models.push_back(text ? model_of(*text) : std::string());
  }
  return facts;
}

}  // namespace cachetool::verify
