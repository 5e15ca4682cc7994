#include "verify/triton_checks.h"

#include <array>

namespace cachetool::verify {
namespace {

using Family = torch::ReleaseFamily;

// Inductor loads binaries from their directory by itself since 2.8 (static launcher); before, Triton looks
// for them, and misses.
constexpr std::array kMovedUpTo27{FamilySeverity{Family::k2_4, Family::k2_7, Severity::kWarning}};

}  // namespace

namespace checks {

const Check kTritonHash{
    .id = "triton.hash",
    .title = "a Triton directory holds the kernel of another one",
    .severity = Severity::kError,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};
const Check kTritonName{
    .id = "triton.name",
    .title = "Triton metadata is for a kernel of another name than its file",
    .severity = Severity::kError,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};
const Check kTritonChildMissing{
    .id = "triton.child-missing",
    .title = "a Triton group names a file that isn't in its directory",
    .severity = Severity::kError,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};
const Check kTritonGroupPath{
    .id = "triton.group-path",
    .title = "a Triton group gives a file the path of another",
    .severity = Severity::kError,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};
const Check kTritonMoved{
    .id = "triton.moved",
    .title = "Triton groups name files below another directory than this one",
    .severity = Severity::kInfo,
    .mend = "put the cache back to where it was written, or let Triton compile these kernels again",
    .by_family = kMovedUpTo27,
};
const Check kTritonUnfinished{
    .id = "triton.unfinished",
    .title = "a Triton directory was never finished",
    .severity = Severity::kInfo,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};
const Check kTritonArchitecture{
    .id = "triton.architecture",
    .title = "a Triton binary is for another GPU than its metadata says",
    .severity = Severity::kError,
    .mend = "move the directory away with `cachetool verify --repair`; Triton compiles the kernel again",
};

}  // namespace checks

namespace {

constexpr std::array kChecks{
    &checks::kTritonHash,         &checks::kTritonName,       &checks::kTritonChildMissing,
    &checks::kTritonGroupPath,    &checks::kTritonUnfinished, &checks::kTritonMoved,
    &checks::kTritonArchitecture,
};

}  // namespace

CheckGroup triton_checks() {
  return {"Triton directories", kChecks};
}

}  // namespace cachetool::verify
