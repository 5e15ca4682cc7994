#include "verify/follow_ups.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

constexpr std::array kFollowUps{
    // A wrapper that an entry names: what it differs from is known better than that its name is wrong.
    FollowUp{"wrapper.differs", "module.name"},
    FollowUp{"wrapper.relocated", "module.name"},
    // The directory goes as a whole.
    FollowUp{"triton.hides-bundle", "triton.child-missing", Extent::kInDirectory},
    FollowUp{"triton.hides-bundle", "triton.unfinished", Extent::kInDirectory},
    FollowUp{"triton.hides-bundle", "triton.child-missing"},
    FollowUp{"triton.hides-bundle", "triton.unfinished"},
    // A changed entry names what nobody wrote.
    FollowUp{"fxgraph.name", "module.missing"},
    FollowUp{"fxgraph.name", "cpp.kernel-missing"},
    FollowUp{"fxgraph.name", "triton.kernel-missing"},
    FollowUp{"fxgraph.name", "triton.static-missing"},
    FollowUp{"aotautograd.name", "aotautograd.graph-missing"},
    FollowUp{"aotautograd.name", "aotautograd.graph-guards"},
    FollowUp{"aotautograd.name", "module.missing"},
    FollowUp{"aotautograd.name", "cpp.kernel-missing"},
    FollowUp{"aotautograd.name", "triton.kernel-missing"},
    FollowUp{"aotautograd.name", "triton.static-missing"},
    FollowUp{"entry.cache-key", "module.missing"},
    FollowUp{"entry.cache-key", "cpp.kernel-missing"},
    FollowUp{"entry.cache-key", "triton.kernel-missing"},
};

// Says of a directory what any finding about a file in it says better.
constexpr std::string_view kDirectoryCheck = "triton.differs-from-bundle";

// What such an entry carries isn't what anybody bundled.
constexpr std::array<std::string_view, 2> kChangedEntry{"fxgraph.name", "aotautograd.name"};

std::string place(std::string_view check, std::uint32_t root, std::string_view path) {
  return std::string(check) + '\n' + std::to_string(root) + '\n' + std::string(path);
}

}  // namespace

std::span<const FollowUp> follow_ups() {
  return kFollowUps;
}

void drop_follow_ups(std::vector<Finding>& findings) {
  std::unordered_set<std::string> causes;
  std::unordered_set<std::string> changed_entries;
  std::unordered_map<std::string, Severity> worst_inside;
  for (const Finding& finding : findings) {
    const bool is_cause = std::any_of(kFollowUps.begin(), kFollowUps.end(),
                                      [&](const FollowUp& pair) { return pair.cause == finding.check->id; });
    if (is_cause) causes.insert(place(finding.check->id, finding.root, finding.path));
    if (std::find(kChangedEntry.begin(), kChangedEntry.end(), finding.check->id) != kChangedEntry.end())
      changed_entries.insert(finding.key);
    const std::string directory = place({}, finding.root, store::directory_of(finding.path));
    Severity& worst = worst_inside.try_emplace(directory, finding.severity).first->second;
    worst = std::max(worst, finding.severity);
  }
  std::erase_if(findings, [&](const Finding& finding) {
    if (finding.check->id == kDirectoryCheck) {
      if (changed_entries.contains(finding.key)) return true;
      const auto worst = worst_inside.find(place({}, finding.root, finding.path));
      if (worst != worst_inside.end() && worst->second >= finding.severity) return true;
    }
    return std::any_of(kFollowUps.begin(), kFollowUps.end(), [&](const FollowUp& pair) {
      if (pair.follow_up != finding.check->id) return false;
      const std::string_view path = pair.extent == Extent::kSamePath ? std::string_view(finding.path)
                                                                     : store::directory_of(finding.path);
      return causes.contains(place(pair.cause, finding.root, path));
    });
  });
}

}  // namespace cachetool::verify
