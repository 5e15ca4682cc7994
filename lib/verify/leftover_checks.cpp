#include "verify/leftover_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

namespace {
// Releases that skip names with a dot in front when they list a key's directory.
constexpr std::array kSkipsDotFiles{
    FamilySeverity{torch::ReleaseFamily::k2_11, torch::ReleaseFamily::k2_15, Severity::kInfo}};
}  // namespace

const Check kLeftoverInKey{"leftover.in-key", "an unfinished write lies among a key's candidates",
                           Severity::kWarning, "Move it away (verify --repair)", kSkipsDotFiles};

const Check kLeftoverTemporary{"leftover.temporary", "an unfinished write of a process that is gone",
                               Severity::kInfo, "Move it away (verify --repair)"};

const Check kLeftoverFreshCache{"leftover.fresh-cache",
                                "a cache that a process made for itself inside this one and left behind",
                                Severity::kInfo, "Remove it when no process uses it any more"};

const Check kLeftoverBuild{"leftover.build", "a compiler's working directory was left behind",
                           Severity::kInfo, "Move it away (verify --repair)"};

const Check kLeftoverLoadMarker{"leftover.load-marker",
                                "a marker says that a library loads which isn't there", Severity::kInfo,
                                "Move it away (verify --repair)"};

const Check kLeftoverUnreachable{"leftover.unreachable",
                                 "something lies among the entries where torch never finds it",
                                 Severity::kWarning, "Remove it, or move it to where it belongs"};

const Check kLockFree{"lock.free", "lock files that nobody holds", Severity::kInfo,
                      "Nothing to mend: torch never removes them, and removing them is unsafe while it runs"};

const Check kLockAbandoned{"lock.abandoned", "a lock that is held by being there, and its owner is gone",
                           Severity::kWarning, "Remove the lock file when no process compiles"};

}  // namespace checks

CheckGroup leftover_checks() {
  using namespace checks;
  static constexpr std::array kChecks{
      &kLeftoverInKey,      &kLeftoverTemporary,   &kLeftoverFreshCache, &kLeftoverBuild,
      &kLeftoverLoadMarker, &kLeftoverUnreachable, &kLockFree,           &kLockAbandoned,
  };
  return {"Leftovers and locks", kChecks};
}

}  // namespace cachetool::verify
