#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/file_system.h"
#include "container/cubin.h"
#include "store/environment.h"
#include "verify/libraries.h"

namespace cachetool::verify {

/// What `--against` names, and what `--deep` asks for without it.
struct TargetRequest {
  bool host = false;       ///< all of this machine; what is named beside it comes first
  bool libraries = false;  ///< this machine's libraries only
  std::string cpu;         ///< a level: "avx2", "avx512", "amx"; empty: not named
  std::optional<container::CudaTarget> gpu;
  std::string torch;  ///< the torch package's directory; empty: not named
};

/// Parses `host|arch=sm_90,cpu=avx2|avx512|amx,torch=DIR`: parts between commas, each at most once. Errors:
/// kUsage with the part that makes no sense.
Expected<TargetRequest> parse_target(std::string_view text);

/// The instructions that a processor level has: "avx2" is x86-64-v3 with AES, "avx512" adds what x86-64-v4
/// has, "amx" what the first processors with AMX have (Sapphire Rapids). Empty for another name.
std::optional<CpuFeatures> cpu_level(std::string_view name);

/// Facts of this machine that describe_target doesn't read itself; see read_host_facts.
struct HostFacts {
  CpuFacts cpu;
  std::vector<std::string> gpu_models;  ///< of NVIDIA GPUs, as the driver names them
  std::string torch;  ///< directory of the torch package that Python would import; may be empty
};

struct TargetCpu {
  std::string name;  ///< "cpu=avx2", "this machine's processor"
  std::uint16_t elf_machine = container::kMachineX86_64;
  std::optional<CpuFeatures> features;  ///< empty where they can't be known
};

struct TargetGpu {
  std::string name;                                   ///< "arch=sm_90", "NVIDIA H200"
  std::optional<container::CudaTarget> architecture;  ///< empty for a model that isn't known
};

/// What binaries of a cache have to fit. Nothing of it was executed or loaded: it is read from files. Only
/// what is set is judged.
struct TargetMachine {
  std::optional<TargetCpu> cpu;
  std::optional<std::vector<TargetGpu>> gpus;  ///< empty list: the machine has none
  std::unique_ptr<Libraries> libraries;
  bool judges_system = false;  ///< the system's libraries are the target's own, not just those found here
  std::string python_tag;      ///< of torch's Python: "cpython-311-x86_64-linux-gnu"; empty: not known
};

/// Builds the target from what the request names. `fs` must live as long as the result. Errors: kNotFound
/// when the directory given is no torch package.
Expected<TargetMachine> describe_target(FileSystem& fs, const store::Environment& environment,
                                        const HostFacts& host, const TargetRequest& request);

/// The architecture of an NVIDIA GPU by its model name ("NVIDIA H200" is sm_90); empty for one that isn't
/// known.
std::optional<container::CudaTarget> gpu_architecture(std::string_view model);

}  // namespace cachetool::verify
