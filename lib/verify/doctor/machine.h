#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/file_system.h"
#include "base/host_system.h"
#include "store/environment.h"
#include "torch/entry_summary.h"

namespace cachetool::verify {

struct Gpu {
  std::string vendor;   ///< "nvidia", "amd", "intel"
  std::string model;    ///< as the driver says; empty without one
  std::string address;  ///< "0000:17:00.0" on the PCI bus
};

/// The vector instructions that Inductor picks for CPU kernels.
struct VectorChoice {
  torch::ReleaseFamily first;
  torch::ReleaseFamily last;
  std::string isa;
};

struct Machine {
  CpuFacts cpu;
  std::vector<VectorChoice> vector_isa;  ///< releases that pick the same are one item
  std::string kernel;                    ///< "6.1.0-18-amd64"
  std::vector<Gpu> gpus;
  std::string nvidia_driver;              ///< "580.65.06"; empty without the kernel module
  std::vector<std::string> device_nodes;  ///< "/dev/nvidia0", "/dev/kfd", …
};

/// Reads what the kernel tells in /proc, /sys and /dev; loads no driver and runs nothing.
Machine read_machine(FileSystem& fs, HostSystem& host, const store::Environment& environment);

}  // namespace cachetool::verify
