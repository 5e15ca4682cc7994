#include "verify/reference_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

const Check kGraphMissing{"aotautograd.graph-missing",
                          "an AOTAutograd entry names a graph that isn't in the cache", Severity::kWarning,
                          "Nothing to mend: torch compiles the graph again and writes both entries"};

const Check kGraphGuards{"aotautograd.graph-guards",
                         "an AOTAutograd entry names a graph under other guards than any candidate has",
                         Severity::kWarning,
                         "Nothing to mend: torch compiles the graph again and writes both entries"};

const Check kFrozenReference{"aotautograd.frozen", "an AOTAutograd entry leads to frozen parameters",
                             Severity::kError,
                             "Remove the AOTAutograd entry: torch then compiles with its parameters at hand"};

const Check kWrapperDiffers{
    "wrapper.differs", "a wrapper module isn't what the entry says that it is; torch runs the file",
    Severity::kError, "Move the module away: torch writes it again from the entry (verify --repair)"};

const Check kWrapperRelocated{"wrapper.relocated", "a wrapper module was rewritten for the cache's new place",
                              Severity::kInfo, "Nothing to mend"};

const Check kModuleMissing{"module.missing", "an entry names generated modules that aren't there",
                           Severity::kInfo, "Nothing to mend: torch writes them again from the entry"};

const Check kCppKernelMissing{"cpp.kernel-missing", "an entry names C++ kernels that aren't there",
                              Severity::kWarning, "Nothing to mend: torch compiles them on the next load"};

const Check kCppLibraryMissing{"cpp.library-missing", "a C++ kernel has a source and no library",
                               Severity::kWarning, "Nothing to mend: torch compiles it on the next load"};

const Check kCppSourceMissing{
    "cpp.source-missing", "a library has no source beside it", Severity::kInfo,
    "Nothing to mend: torch writes the source again and loads the library as it is"};

const Check kTritonKernelMissing{"triton.kernel-missing",
                                 "a wrapper uses Triton kernels that neither the entry nor the cache holds",
                                 Severity::kWarning, "Nothing to mend: torch compiles them on the next load"};

const Check kStaticKernelMissing{"triton.static-missing",
                                 "an entry's autotuner names binaries that neither it nor the cache holds",
                                 Severity::kWarning, "Nothing to mend: torch compiles the kernel again"};

const Check kTritonHidesBundle{
    "triton.hides-bundle", "a kernel directory is partly there and hides the copy that an entry carries",
    Severity::kError,
    "Move the directory away: torch writes it again from the entry's bundle (verify --repair)"};

const Check kTritonDiffersFromBundle{
    "triton.differs-from-bundle", "a kernel directory's file isn't the copy that an entry carries",
    Severity::kError,
    "Move the directory away: torch writes it again from the entry's bundle (verify --repair)"};

const Check kAutotuneMissing{
    "autotune.missing", "a kernel has several configurations and no result that says which is best",
    Severity::kWarning, "Run the model once to its end: torch then keeps the winner"};

}  // namespace checks

CheckGroup reference_checks() {
  using namespace checks;
  static constexpr std::array kChecks{
      &kGraphMissing,
      &kGraphGuards,
      &kFrozenReference,
      &kWrapperDiffers,
      &kWrapperRelocated,
      &kModuleMissing,
      &kCppKernelMissing,
      &kCppLibraryMissing,
      &kCppSourceMissing,
      &kTritonKernelMissing,
      &kStaticKernelMissing,
      &kTritonHidesBundle,
      &kTritonDiffersFromBundle,
      &kAutotuneMissing,
  };
  return {"References", kChecks};
}

}  // namespace cachetool::verify
