#include "verify/machine_checks.h"

namespace cachetool::verify {

namespace checks {

const Check kBinaryMachine = {"binary.machine", "a shared object is for another kind of processor",
                              Severity::kError,
                              "remove the shared object and its source: torch compiles the kernel again"};
const Check kBinaryProcessor = {
    "binary.processor", "a shared object holds instructions that the processor lacks", Severity::kError,
    "use the cache on a processor that has them, or remove the shared object: torch compiles it again"};
const Check kBinaryLibrary = {"binary.library", "a shared object needs a library that isn't there",
                              Severity::kError,
                              "install the library, or remove the shared object: torch compiles it again"};
const Check kBinaryVersion = {
    "binary.version", "a shared object needs a later version of a library", Severity::kError,
    "use a system that is at least as new as the one that compiled it, or remove the shared object"};
const Check kBinarySymbol = {
    "binary.symbol", "a shared object needs a symbol that no library defines", Severity::kError,
    "use the torch release that compiled it, or remove the shared object: torch compiles it again"};
const Check kLauncherPython = {"launcher.python", "a launcher module was compiled for another Python",
                               Severity::kWarning,
                               "nothing: Triton compiles a launcher of its own beside it"};
const Check kCubinDevice = {"cubin.device", "GPU code is for another architecture than the GPU's",
                            Severity::kError, "use the cache on such a GPU, or compile on the one at hand"};
const Check kCubinKernel = {"cubin.kernel", "GPU code doesn't hold the kernel that its metadata names",
                            Severity::kError, "remove the kernel's directory: Triton compiles it again"};
const Check kCubinThreads = {"cubin.threads",
                             "GPU code was compiled for another number of threads than its metadata says",
                             Severity::kError, "remove the kernel's directory: Triton compiles it again"};
const Check kTensorStorage = {"tensor.storage",
                              "a tensor in an entry can't be rebuilt from what is stored of it",
                              Severity::kError, "remove the entry: torch compiles the graph again"};

}  // namespace checks

CheckGroup machine_checks() {
  static constexpr const Check* kChecks[] = {
      &checks::kBinaryMachine, &checks::kBinaryProcessor, &checks::kBinaryLibrary, &checks::kBinaryVersion,
      &checks::kBinarySymbol,  &checks::kLauncherPython,  &checks::kCubinDevice,   &checks::kCubinKernel,
      &checks::kCubinThreads,  &checks::kTensorStorage};
  return {"Against a machine", kChecks};
}

}  // namespace cachetool::verify
