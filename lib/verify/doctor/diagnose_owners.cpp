#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verify/doctor/diagnosis.h"
#include "verify/place_checks.h"

namespace cachetool::verify {
namespace {

constexpr std::uint32_t kGroupWrites = 020;
constexpr std::uint32_t kOthersWrite = 002;
constexpr std::uint32_t kSticky = 01000;

class OwnerDiagnosis {
 public:
  OwnerDiagnosis(Diagnosis& diagnosis, const store::Environment& environment)
      : diagnosis_(diagnosis), environment_(environment) {}

  void look_at(const Place& place) {
    for (const PathStep& step : place.walk.steps) {
      if (!seen_.insert(step.path).second) continue;
      if (step.is_link()) {
        look_at_link(step);
      } else {
        const bool is_cache = place.walk.exists && step.path == place.walk.real;
        look_at_directory(step, is_cache);
      }
    }
  }

 private:
  bool is_trusted(std::uint32_t uid) const { return uid == 0 || uid == environment_.uid; }

  void look_at_link(const PathStep& step) {
    if (is_trusted(step.stat.uid)) return;
    diagnosis_.add(
        checks::kPlaceForeignLink, step.path,
        fmt::format("user {} owns this link to {} and can lead torch elsewhere", step.stat.uid, step.target));
  }

  void look_at_directory(const PathStep& step, bool is_cache) {
    if (!is_trusted(step.stat.uid)) {
      diagnosis_.add_as(
          checks::kPlaceForeignOwner, is_cache ? Severity::kError : Severity::kWarning, step.path,
          is_cache ? fmt::format("user {} owns the cache, and torch runs what lies in it", step.stat.uid)
                   : fmt::format("user {} owns this directory above the cache and can replace what is "
                                 "below",
                                 step.stat.uid));
      return;
    }
    // In a sticky directory only owners rename and remove; but anybody can still add files to a cache.
    if ((step.stat.mode & kSticky) != 0 && !is_cache) return;
    const bool others = (step.stat.mode & kOthersWrite) != 0;
    const bool group = (step.stat.mode & kGroupWrites) != 0 && !is_own_group(step.stat.gid);
    if (!others && !group) return;
    diagnosis_.add_as(checks::kPlaceOthersMayWrite, others ? Severity::kError : Severity::kWarning, step.path,
                      fmt::format("mode {:04o}: {} can {}", step.stat.mode,
                                  others ? "anybody" : fmt::format("group {}", step.stat.gid),
                                  is_cache ? "put files there that torch runs" : "replace the cache below"),
                      fmt::format("chmod {} {}", others ? "go-w" : "g-w", shell_word(step.path)));
  }

  /// Root's, or the group of the same number as its user, which distributions give each user alone.
  bool is_own_group(std::uint32_t gid) const { return gid == 0 || gid == environment_.uid; }

  Diagnosis& diagnosis_;
  const store::Environment& environment_;
  std::set<std::string> seen_;
};

}  // namespace

void diagnose_owners(Diagnosis& diagnosis, const store::Environment& environment) {
  OwnerDiagnosis owners(diagnosis, environment);
  for (const Place& place : diagnosis.report().places) owners.look_at(place);
  const auto umask = diagnosis.report().umask;
  if (umask && (*umask & kOthersWrite) == 0) {
    diagnosis.add(checks::kPlaceUmask, {},
                  fmt::format("umask {:03o}: anybody may change files that torch creates", *umask),
                  "umask 022");
  } else if (umask && (*umask & kGroupWrites) == 0) {
    diagnosis.add_as(checks::kPlaceUmask, Severity::kInfo, {},
                     fmt::format("umask {:03o}: the group may change files that torch creates", *umask),
                     "umask 022");
  }
}

}  // namespace cachetool::verify
