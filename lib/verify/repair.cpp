#include "verify/repair.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

bool went(const RootRepair& repair, std::string_view path) {
  for (std::size_t i = 0; i < repair.outcome.units.size(); ++i) {
    if (repair.outcome.units[i].state != change::UnitState::kDone) continue;
    const std::vector<change::PlannedPath>& paths = repair.plan.units[i].paths;
    const bool named = std::any_of(paths.begin(), paths.end(), [&](const change::PlannedPath& planned) {
      return store::is_within(planned.path, path);
    });
    if (named) return true;
  }
  return false;
}

}  // namespace

std::vector<Error> settle_earlier(FileSystem& fs, const store::CacheSet& cache, std::uint32_t uid) {
  std::vector<Error> problems;
  for (std::uint32_t root = 0; root < cache.roots.size(); ++root) {
    if (cache.roots[root].directory == nullptr) continue;
    auto recovery = change::recover(fs, cache.roots[root].directory, uid);
    if (!recovery) continue;
    for (Error& problem : recovery->problems) {
      problem.path = store::full_path(cache, root, problem.path);
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

std::vector<RootRepair> plan_repair(FileSystem& fs, const store::CacheSet& cache, const Result& result) {
  std::map<std::uint32_t, std::vector<change::UnitRequest>> requests;
  for (const Finding& finding : result.findings) {
    if (finding.repair.empty()) continue;
    change::UnitRequest request;
    request.label = finding.path;
    request.reason = finding.check->id;
    request.action = change::Action::kQuarantine;
    request.paths = finding.repair;
    requests[finding.root].push_back(std::move(request));
  }
  std::vector<RootRepair> repairs;
  for (auto& [root, wanted] : requests) {
    RootRepair repair;
    repair.root = root;
    repair.plan = change::make_plan(fs, cache.roots[root].directory, std::move(wanted));
    repairs.push_back(std::move(repair));
  }
  return repairs;
}

void execute_repair(FileSystem& fs, const store::CacheSet& cache, std::vector<RootRepair>& repairs,
                    const change::Settings& settings) {
  for (RootRepair& repair : repairs) {
    auto outcome = change::execute(fs, cache.roots[repair.root].directory, repair.plan, settings);
    repair.executed = outcome.has_value();
    if (outcome) {
      repair.outcome = std::move(*outcome);
    } else {
      repair.failure = std::move(outcome.error());
    }
  }
}

bool is_mended(const Finding& finding, const std::vector<RootRepair>& repairs) {
  if (finding.repair.empty()) return false;
  const auto repair = std::find_if(repairs.begin(), repairs.end(), [&](const RootRepair& candidate) {
    return candidate.root == finding.root;
  });
  if (repair == repairs.end()) return false;
  return std::all_of(finding.repair.begin(), finding.repair.end(),
                     [&](const std::string& path) { return went(*repair, path); });
}

}  // namespace cachetool::verify
