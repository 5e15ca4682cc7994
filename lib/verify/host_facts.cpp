#include "verify/host_facts.h"

#include <algorithm>

#include "store/paths.h"
#include "verify/doctor/machine.h"
#include "verify/doctor/software.h"

namespace cachetool::verify {

HostFacts read_host_facts(FileSystem& fs, HostSystem& host, const store::Environment& environment) {
  HostFacts facts;
  Machine machine = read_machine(fs, host, environment);
  facts.cpu = std::move(machine.cpu);
  for (const Gpu& gpu : machine.gpus)
    if (gpu.vendor == "nvidia") facts.gpu_models.push_back(gpu.model);
  const Software software = find_software(fs, environment);
  const auto torch = std::find_if(software.packages.begin(), software.packages.end(),
                                  [](const Package& package) { return package.name == "torch"; });
  if (torch != software.packages.end()) facts.torch = store::join_path(torch->path, "torch");
  return facts;
}

}  // namespace cachetool::verify
