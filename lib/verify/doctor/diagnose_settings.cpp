#include <fmt/format.h>

#include "verify/doctor/diagnosis.h"
#include "verify/place_checks.h"

namespace cachetool::verify {
namespace {

struct Off {
  std::string_view name;
  bool when;  ///< the value that turns something off
  const Check& check;
  std::string_view consequence;
};

/// Switches as torch reads them.
constexpr Off kSwitches[] = {
    {"TORCHINDUCTOR_FORCE_DISABLE_CACHES", true, checks::kPlaceCachesDisabled,
     "torch compiles everything anew in each process"},
    {"TORCH_COMPILE_FORCE_DISABLE_CACHES", true, checks::kPlaceCachesDisabled,
     "torch from 2.9 on compiles everything anew in each process"},
    {"TORCHINDUCTOR_FX_GRAPH_CACHE", false, checks::kPlaceCacheOff,
     "compiled graphs are neither kept nor found, and AOTAutograd's cache does nothing without them"},
    {"TORCHINDUCTOR_AUTOGRAD_CACHE", false, checks::kPlaceCacheOff,
     "tracing by AOTAutograd is repeated in each process"},
    {"TORCHINDUCTOR_BUNDLE_TRITON_INTO_FX_GRAPH_CACHE", false, checks::kPlaceCacheOff,
     "entries don't carry their kernels: they are compiled anew where Triton's cache is gone"},
    {"VLLM_DISABLE_COMPILE_CACHE", true, checks::kPlaceCacheOff,
     "vLLM compiles everything anew at each start"},
};

/// triton/knobs.py: getenv_bool (3.4).
bool is_true_for_triton(std::string_view value) {
  std::string lower;
  for (const char c : value) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view word : {"1", "true", "yes", "on", "y"})
    if (lower == word) return true;
  return false;
}

void diagnose_compile_switch(Diagnosis& diagnosis, const store::Environment& environment) {
  for (const std::string_view name : {"TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE"}) {
    if (environment.get(name) != "1") continue;
    diagnosis.add(checks::kPlaceCompileOff, {},
                  fmt::format("{}=1: torch.compile runs functions as they are", name),
                  fmt::format("unset {}", name));
  }
}

}  // namespace

void diagnose_settings(Diagnosis& diagnosis, const store::Environment& environment) {
  for (const Off& off : kSwitches) {
    if (switch_value(environment, off.name) != off.when) continue;
    diagnosis.add(off.check, {},
                  fmt::format("{}={}: {}", off.name, *environment.get(off.name), off.consequence),
                  fmt::format("unset {}", off.name));
  }
  if (is_true_for_triton(environment.get("TRITON_ALWAYS_COMPILE").value_or(""))) {
    diagnosis.add(checks::kPlaceCacheOff, {},
                  fmt::format("TRITON_ALWAYS_COMPILE={}: Triton compiles kernels although they are there",
                              *environment.get("TRITON_ALWAYS_COMPILE")),
                  "unset TRITON_ALWAYS_COMPILE");
  }
  diagnose_compile_switch(diagnosis, environment);
  for (const Misspelt& misspelt : find_misspelt(environment)) {
    diagnosis.add(checks::kPlaceMisspelt, {},
                  fmt::format("no release reads {}; {} is one that is read", misspelt.name, misspelt.meant));
  }
}

void diagnose_software(Diagnosis& diagnosis) {
  const DoctorReport& report = diagnosis.report();
  const auto& packages = report.software.packages;
  if (packages.empty()) return;
  for (const Program& program : report.software.programs) {
    if (!program.path.empty()) continue;
    const bool is_cxx = program.use == "C++ compiler";
    if (!is_cxx && report.machine.gpus.empty()) continue;
    diagnosis.add(
        checks::kPlaceNoCompiler, {},
        is_cxx ? fmt::format("{} isn't on PATH: torch can't compile CPU kernels, only use those that "
                             "are in the cache",
                             program.name)
               : fmt::format("{} isn't on PATH: Triton can't build what starts its kernels", program.name),
        is_cxx ? "Install g++, or set CXX to the compiler." : "Install gcc, or set CC to the compiler.");
  }
}

}  // namespace cachetool::verify
