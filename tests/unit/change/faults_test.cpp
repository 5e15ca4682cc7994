#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "change/execute.h"
#include "change/recover.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

const Error kGone{ErrorCode::kIo, "the device is gone", {}, {}, {}};

/// A cache and a plan for it. What happens to the cache between planning and executing, a test adds.
struct Scene {
  MemoryFileSystem fs;
  DirHandle root;
  Plan plan;
  Tree before;

  Scene() {
    fill_cache(fs);
    root = *fs.open_root("/");
    plan = make_plan(fs, root, all_requests());
    before = tree_of(fs);
  }
};

/// Where a unit is after a run that something happened to.
enum class Where { kInPlace, kQuarantine, kRemoved, kTorn };

Where where_is(const PlannedUnit& unit, const Tree& before, const Tree& after) {
  std::set<Where> places;
  for (const PlannedPath& path : unit.paths) {
    const Tree original = at(before, path.path);
    Tree in_quarantine;
    for (const auto& [name, content] : after) {
      if (!name.starts_with(".cachetool/quarantine/") || content != "/" || !name.ends_with("/files"))
        continue;
      in_quarantine = at(after, name + "/" + path.path);
    }
    const Tree in_place = at(after, path.path);
    if (in_place == original && in_quarantine.empty()) {
      places.insert(Where::kInPlace);
    } else if (in_place.empty() && in_quarantine == original) {
      places.insert(Where::kQuarantine);
    } else if (in_place.empty() && in_quarantine.empty()) {
      places.insert(Where::kRemoved);
    } else {
      places.insert(Where::kTorn);
    }
  }
  return places.size() == 1 ? *places.begin() : Where::kTorn;
}

/// Whatever happened, and after a recovery: units are whole, and all else is as it was.
void check_invariants(const Plan& plan, const Tree& before, const Tree& after) {
  std::set<std::string> planned;
  for (const PlannedUnit& unit : plan.units) {
    CAPTURE(unit.label);
    const Where where = where_is(unit, before, after);
    CHECK(where != Where::kTorn);
    if (unit.action == Action::kQuarantine) CHECK(where != Where::kRemoved);
    if (unit.action == Action::kRemove) CHECK(where != Where::kQuarantine);
    for (const PlannedPath& path : unit.paths) {
      planned.insert(path.path);
      for (const auto& [name, content] : at(before, path.path)) planned.insert(path.path + "/" + name);
    }
  }
  for (const auto& [name, content] : before) {
    if (planned.contains(name)) continue;
    CAPTURE(name);
    const auto found = after.find(name);
    REQUIRE(found != after.end());
    CHECK(found->second == content);
  }
  for (const auto& [name, content] : after) {
    CAPTURE(name);
    if (!name.starts_with(".cachetool")) CHECK(before.contains(name));
    CHECK_FALSE(name.starts_with(".cachetool/journal/"));
    CHECK_FALSE(name.starts_with(".cachetool/trash/"));
    CHECK(name.find(".tmp") == std::string::npos);
  }
}

void check_recovered(Scene& scene) {
  const auto recovery = recover(scene.fs, scene.root, 0);
  REQUIRE(recovery.has_value());
  for (const Error& problem : recovery->problems) FAIL_CHECK(describe(problem));
  const Tree after = tree_of(scene.fs);
  check_invariants(scene.plan, scene.before, after);
  const auto again = recover(scene.fs, scene.root, 0);
  REQUIRE(again.has_value());
  CHECK(again->runs.empty());
  CHECK(again->problems.empty());
  CHECK(tree_of(scene.fs) == after);
}

std::uint64_t calls_of_whole_run() {
  Scene scene;
  FaultFileSystem fs(scene.fs);
  REQUIRE(execute(fs, scene.root, scene.plan, {}).has_value());
  return fs.calls();
}

}  // namespace

TEST_SUITE("change/faults") {
  TEST_CASE("nothing goes wrong") {
    Scene scene;
    REQUIRE(scene.plan.units.size() == 6);
    const auto outcome = execute(scene.fs, scene.root, scene.plan, {});
    REQUIRE(outcome.has_value());
    for (const UnitOutcome& unit : outcome->units) CHECK(unit.state == UnitState::kDone);
    CHECK(outcome->problems.empty());
    const Tree after = tree_of(scene.fs);
    for (const PlannedUnit& unit : scene.plan.units) {
      CAPTURE(unit.label);
      CHECK(where_is(unit, scene.before, after) ==
            (unit.action == Action::kRemove ? Where::kRemoved : Where::kQuarantine));
    }
    check_recovered(scene);
  }

  TEST_CASE("killed at every call") {
    const std::uint64_t calls = calls_of_whole_run();
    REQUIRE(calls > 100);
    for (std::uint64_t number = 1; number <= calls; ++number) {
      CAPTURE(number);
      Scene scene;
      FaultFileSystem fs(scene.fs);
      fs.fail_from(number, kGone);
      static_cast<void>(execute(fs, scene.root, scene.plan, {}));
      check_recovered(scene);
    }
  }

  TEST_CASE("every call fails once") {
    const std::uint64_t calls = calls_of_whole_run();
    for (const ErrorCode code : {ErrorCode::kIo, ErrorCode::kPermission, ErrorCode::kExists,
                                 ErrorCode::kLocked, ErrorCode::kUnsupported}) {
      for (std::uint64_t number = 1; number <= calls; ++number) {
        CAPTURE(code_name(code));
        CAPTURE(number);
        Scene scene;
        FaultFileSystem fs(scene.fs);
        fs.fail_at(number, {code, "once", {}, {}, {}});
        const auto outcome = execute(fs, scene.root, scene.plan, {});
        if (outcome) CHECK(outcome->units.size() == scene.plan.units.size());
        check_recovered(scene);
      }
    }
  }

  TEST_CASE("killed at every call, then the recovery at every call") {
    const std::uint64_t calls = calls_of_whole_run();
    std::uint64_t recoveries = 0;
    for (std::uint64_t number = 1; number <= calls; ++number) {
      for (std::uint64_t cut = 1;; ++cut) {
        CAPTURE(number);
        CAPTURE(cut);
        Scene scene;
        FaultFileSystem fs(scene.fs);
        fs.fail_from(number, kGone);
        static_cast<void>(execute(fs, scene.root, scene.plan, {}));
        FaultFileSystem second(scene.fs);
        second.fail_from(cut, kGone);
        static_cast<void>(recover(second, scene.root, 0));
        if (second.calls() < cut) break;
        ++recoveries;
        check_recovered(scene);
      }
    }
    CHECK(recoveries > 1000);
  }
}
