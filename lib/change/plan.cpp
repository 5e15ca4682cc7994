#include "change/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "change/overlap.h"
#include "change/parents.h"
#include "change/torch_locks.h"
#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::change {
namespace {

/// Why a path may not be changed, as a clause; empty when it may.
std::string_view must_stay(std::string_view path, FileType type) {
  const std::string_view name = store::name_of(path);
  if (type == FileType::kDirectory) {
    if (name == "locks") return "torch's locks stay";
    if (store::is_shard_name(name)) return "shard directories stay: torch may be about to write into them";
    return {};
  }
  return is_lock_name(name) ? "lock files stay: somebody may be waiting for them" : std::string_view();
}

void add_locks(PlannedUnit& unit, const PlannedPath& path) {
  const auto add = [&unit](std::vector<std::string> locks) {
    std::move(locks.begin(), locks.end(), std::back_inserter(unit.locks));
  };
  add(torch_locks_of(path.path));
  for (const Member& member : path.expected.members) {
    const std::string below = store::join_path(path.path, member.path);
    if (member.identity.type == FileType::kDirectory) continue;
    if (is_lock_name(store::name_of(below))) {
      unit.locks.push_back(below);
    } else {
      add(torch_locks_of(below));
    }
  }
}

/// Looks at the paths of one request; nullopt when it is left out.
class Planner {
 public:
  Planner(FileSystem& fs, const DirHandle& root, Plan& plan) : fs_(fs), parents_(fs, root), plan_(plan) {}

  void add(UnitRequest&& request) {
    PlannedUnit unit{std::move(request.label),
                     std::move(request.reason),
                     request.action,
                     std::move(request.locks),
                     {},
                     {}};
    std::vector<std::string> gone;
    for (std::string& path : request.paths) {
      auto expected = look(path);
      if (!expected && expected.error().code == ErrorCode::kNotFound) {
        gone.push_back(std::move(path));
        continue;
      }
      if (!expected && expected.error().code == ErrorCode::kVanished) {
        plan_.left_out.push_back(
            {std::move(unit.label), "something is changing it at this moment", std::nullopt});
        return;
      }
      if (!expected) {
        std::string why = expected.error().message;
        plan_.left_out.push_back({std::move(unit.label), std::move(why), std::move(expected.error())});
        return;
      }
      unit.amount += expected->amount;
      unit.paths.push_back({std::move(path), std::move(*expected)});
      add_locks(unit, unit.paths.back());
    }
    if (unit.paths.empty()) {
      plan_.left_out.push_back({std::move(unit.label), "it is gone", std::nullopt});
      return;
    }
    for (const std::string& path : gone) {
      plan_.left_out.push_back(
          {unit.label, fmt::format("{} is gone", escape_for_terminal(path)), std::nullopt});
    }
    settle(unit);
    plan_.units.push_back(std::move(unit));
  }

 private:
  Expected<Snapshot> look(const std::string& path) {
    auto place = parents_.find(path);
    if (!place) return tl::unexpected(std::move(place.error()));
    auto snapshot = take_snapshot(fs_, *place->directory, place->name);
    if (!snapshot) {
      std::string below = store::join_path(store::directory_of(path), snapshot.error().path);
      return tl::unexpected(at_path(std::move(snapshot.error()), below));
    }
    if (const auto why = must_stay(path, snapshot->identity.type); !why.empty()) {
      return fail(ErrorCode::kUsage, std::string(why), path);
    }
    return snapshot;
  }

  static void settle(PlannedUnit& unit) {
    std::sort(unit.locks.begin(), unit.locks.end());
    unit.locks.erase(std::unique(unit.locks.begin(), unit.locks.end()), unit.locks.end());
    std::sort(unit.paths.begin(), unit.paths.end(), [](const PlannedPath& a, const PlannedPath& b) {
      return std::pair(order_of_removal(a.path, a.expected.identity.type), std::string_view(a.path)) <
             std::pair(order_of_removal(b.path, b.expected.identity.type), std::string_view(b.path));
    });
  }

  FileSystem& fs_;
  Parents parents_;
  Plan& plan_;
};

}  // namespace

Amount Plan::amount() const {
  Amount sum;
  for (const PlannedUnit& unit : units) sum += unit.amount;
  return sum;
}

int order_of_removal(std::string_view path, FileType type) {
  constexpr int kSources = 8;
  constexpr std::array<std::pair<std::string_view, int>, 8> kByEnding = {{{".load_ok", 2},
                                                                          {".best_config", 3},
                                                                          {".py", 5},
                                                                          {".cpp", kSources},
                                                                          {".cu", kSources},
                                                                          {".h", kSources + 1},
                                                                          {".gch", 4},
                                                                          {".so", 4}}};
  constexpr int kResults = 4;
  constexpr int kDirectories = 10;
  if (type == FileType::kDirectory) return kDirectories;
  const auto components = store::split_path(path);
  const auto has = [&](std::string_view name) {
    return std::find(components.begin(), components.end(), name) != components.end();
  };
  if (has("aotautograd")) return 0;
  if (has("fxgraph")) return 1;
  for (const auto& [ending, order] : kByEnding) {
    if (path.ends_with(ending)) return order;
  }
  return kResults;
}

Plan make_plan(FileSystem& fs, const DirHandle& root, std::vector<UnitRequest> requests) {
  Plan plan;
  Planner planner(fs, root, plan);
  for (UnitRequest& request : join_overlapping(std::move(requests))) planner.add(std::move(request));
  return plan;
}

}  // namespace cachetool::change
