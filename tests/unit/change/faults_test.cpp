#include <doctest/doctest.h>

#include <algorithm>
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

  TEST_CASE("torch goes on writing, killed at every call, then the recovery at every call") {
    // The kernel directory grows before its unit is compared, the graph is compiled again while the old one
    // is on its way, and of a kernel that is being removed one file was replaced and its neighbour's place
    // is taken before it goes back.
    const std::string library = "ab/" + kKernel + ".so";
    const std::string source = "ab/" + kKernel + ".cpp";
    const auto begin = [](Scene& scene) { scene.fs.add_file("triton/0/DIR/new.ptx", "new"); };
    const auto call_of = [&](const std::string& wanted) {
      Scene scene;
      begin(scene);
      FaultFileSystem fs(scene.fs);
      REQUIRE(execute(fs, scene.root, scene.plan, {}).has_value());
      const auto log = fs.log();
      const auto found = std::find(log.begin(), log.end(), wanted);
      REQUIRE(found != log.end());
      return static_cast<std::uint64_t>(found - log.begin()) + 1;
    };
    const std::uint64_t graph = call_of("rename leaf 1.0") + 1;
    const std::uint64_t kernel = call_of("rename " + kKernel + ".cpp 2.1");
    const auto run = [&](Scene& scene, std::uint64_t killed_at) {
      begin(scene);
      FaultFileSystem fs(scene.fs);
      if (killed_at > 0) fs.fail_from(killed_at, kGone);
      fs.hook_at(graph, [&] {
        if (killed_at == 0 || graph < killed_at) scene.fs.add_file("fxgraph/ab/fkey/leaf", "compiled again");
      });
      fs.hook_at(kernel, [&] {
        if (killed_at != 0 && kernel >= killed_at) return;
        scene.fs.add_file(source, "replaced");
        scene.fs.add_file(library, "compiled again");
      });
      static_cast<void>(execute(fs, scene.root, scene.plan, {}));
      return fs.calls();
    };
    const auto check = [&](Scene& scene, std::uint64_t killed_at) {
      const auto recovery = recover(scene.fs, scene.root, 0);
      REQUIRE(recovery.has_value());
      CHECK(recovery->problems.empty());
      const Tree after = tree_of(scene.fs);
      std::string files;
      for (const auto& [name, content] : after) {
        if (name.starts_with(".cachetool/quarantine/") && name.ends_with("/files")) files = name + "/";
        CHECK_FALSE(name.starts_with(".cachetool/journal/"));
        CHECK_FALSE(name.starts_with(".cachetool/trash/"));
      }
      // It grew, so it stays, with what came to it.
      Tree grown = at(scene.before, "triton/0/DIR");
      grown["new.ptx"] = "new";
      CHECK(at(after, "triton/0/DIR") == grown);
      // What torch wrote stays; what it replaced is in quarantine, or was never touched.
      if (killed_at == 0 || graph < killed_at) {
        CHECK(after.at("fxgraph/ab/fkey/leaf") == "compiled again");
        CHECK(after.at(files + "fxgraph/ab/fkey/leaf") == "graph one");
      }
      if (killed_at == 0 || kernel < killed_at) {
        CHECK(after.at(source) == "replaced");
        CHECK(after.at(library) == "compiled again");
        CHECK(after.at(files + library) == "library");
      } else {
        CHECK(after.at(source) == "source");
        CHECK(after.at(library) == "library");
      }
      CHECK(after.at("fxgraph/ab/fkey/other") == "graph two");
      CHECK(recover(scene.fs, scene.root, 0)->runs.empty());
      CHECK(tree_of(scene.fs) == after);
    };
    Scene undisturbed;
    const std::uint64_t calls = run(undisturbed, 0);
    check(undisturbed, 0);
    for (std::uint64_t number = 1; number <= calls; ++number) {
      for (std::uint64_t cut = 1;; ++cut) {
        CAPTURE(number);
        CAPTURE(cut);
        Scene scene;
        run(scene, number);
        FaultFileSystem second(scene.fs);
        second.fail_from(cut, kGone);
        static_cast<void>(recover(second, scene.root, 0));
        check(scene, number);
        if (second.calls() < cut) break;
      }
    }
  }

  TEST_CASE("a system that says that something is gone when it isn't loses nothing") {
    const std::uint64_t calls = calls_of_whole_run();
    for (std::uint64_t number = 1; number <= calls; ++number) {
      CAPTURE(number);
      Scene scene;
      FaultFileSystem fs(scene.fs);
      fs.fail_at(number, {ErrorCode::kNotFound, "not there", {}, {}, {}});
      static_cast<void>(execute(fs, scene.root, scene.plan, {}));
      static_cast<void>(recover(scene.fs, scene.root, 0));
      const Tree after = tree_of(scene.fs);
      for (const auto& [path, content] : scene.before) {
        CAPTURE(path);
        const bool to_be_removed = path.starts_with("aotautograd/akey/") ||
                                   path.starts_with("ab/" + kKernel) || path == "triton/0/DIR" ||
                                   path.starts_with("triton/0/DIR/");
        bool found = after.contains(path) && after.at(path) == content;
        for (const auto& [name, copy] : after)
          found = found || (name.ends_with("/files/" + path) && copy == content);
        CHECK((found || to_be_removed));
      }
    }
  }
}
