#include "verify/source_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

const Check kModuleName = {
    .id = "module.name",
    .title = "a generated module's text isn't what its name says",
    .severity = Severity::kError,
    .mend = "move the module away: torch writes it again from the entry or wrapper that holds its text",
};
const Check kCppSourceName = {
    .id = "cpp-source.name",
    .title = "a C++ source's text isn't what its name says",
    .severity = Severity::kError,
    .mend = "move the source away, and what was built from it: torch builds the kernel again",
};
const Check kHeaderName = {
    .id = "header.name",
    .title = "a copied header's text isn't what its name says",
    .severity = Severity::kError,
    .mend = "move the header away: torch copies it again when it compiles the next kernel",
};
const Check kBestConfigName = {
    .id = "best-config.name",
    .title = "an autotune result lies under a name that isn't its kernel's",
    .severity = Severity::kWarning,
    .mend = "move it away: torch tunes the kernel again where it finds no result",
};
const Check kKernelPerf = {
    .id = "kernel-perf.number",
    .title = "a measured time of a kernel is no number",
    .severity = Severity::kError,
    .mend = "move the file away: torch measures again",
};

}  // namespace checks

CheckGroup source_checks() {
  using namespace checks;
  static constexpr std::array<const Check*, 5> kAll = {&kModuleName, &kCppSourceName, &kHeaderName,
                                                       &kBestConfigName, &kKernelPerf};
  return {"Generated sources and autotune results", kAll};
}

}  // namespace cachetool::verify
