#include "change/execute.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

const std::string kRun = "20231114T221320Z";  // the clock of MemoryFileSystem
const std::string kFiles = ".cachetool/quarantine/" + kRun + "/files/";

/// A cache and a way to change it while a plan is executed, as torch would.
struct Cache {
  MemoryFileSystem fs;
  FaultFileSystem faults{fs};
  DirHandle root;

  Cache() {
    fill_cache(fs);
    root = *fs.open_root("/");
  }
  Plan plan(std::vector<UnitRequest> requests) { return make_plan(fs, root, std::move(requests)); }
  Outcome run(const Plan& plan, Settings settings = {}) { return *execute(faults, root, plan, settings); }

  /// Executes once on a copy of this cache to find the call, and has `hook` run right before or after it
  /// here.
  void when(const Plan& plan, const std::string& call, std::size_t after, std::function<void()> hook) {
    Cache rehearsal;
    FaultFileSystem log(rehearsal.fs);
    REQUIRE(execute(log, rehearsal.root, plan, {}).has_value());
    const auto calls = log.log();
    const auto found = std::find(calls.begin(), calls.end(), call);
    REQUIRE(found != calls.end());
    faults.hook_at(static_cast<std::uint64_t>(found - calls.begin()) + 1 + after, std::move(hook));
  }
  /// Right before the call, or after it.
  void before(const Plan& plan, const std::string& call, std::function<void()> hook) {
    when(plan, call, 0, std::move(hook));
  }
  void after(const Plan& plan, const std::string& call, std::function<void()> hook) {
    when(plan, call, 1, std::move(hook));
  }
};

std::vector<UnitRequest> one(Action action, std::vector<std::string> paths) {
  return {{"it", "because", action, std::move(paths)}};
}

}  // namespace

TEST_SUITE("change/execute") {
  TEST_CASE("what goes into quarantine keeps its path and says why") {
    Cache cache;
    const Plan plan = cache.plan(
        {{"bad \x1b kernel", "cpp.truncated", Action::kQuarantine, {"bb/" + kDamaged + ".main.so"}},
         {"half", "triton.half", Action::kQuarantine, {"triton/0/HALF"}}});
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.run == kRun);
    CHECK(outcome.quarantine == ".cachetool/quarantine/" + kRun);
    CHECK(outcome.amount == Amount{5 + 3, 2 * 4096, 2});
    CHECK(outcome.problems.empty());
    const Tree tree = tree_of(cache.fs);
    CHECK(tree.at(kFiles + "bb/" + kDamaged + ".main.so") == "trunc");
    CHECK(tree.at(kFiles + "triton/0/HALF/k.json") == "{1}");
    CHECK(tree.at(kFiles + "triton/0/HALF/empty") == "/");
    CHECK_FALSE(tree.contains("bb/" + kDamaged + ".main.so"));
    CHECK_FALSE(tree.contains("triton/0/HALF"));
    CHECK(tree.contains("triton/0"));
    CHECK(tree.at(".cachetool/quarantine/" + kRun + "/manifest.json") == R"({
  "schema": "cachetool.quarantine/1",
  "run": "20231114T221320Z",
  "created": "2023-11-14T22:13:20Z",
  "restore": "move each path from files/ to the same path in the cache",
  "units": [
    {
      "label": "bad \u001b kernel",
      "reason": "cpp.truncated",
      "state": "in quarantine",
      "paths": [
        "bb/)" + kDamaged + R"(.main.so"
      ]
    },
    {
      "label": "half",
      "reason": "triton.half",
      "state": "in quarantine",
      "paths": [
        "triton/0/HALF"
      ]
    }
  ]
}
)");
  }

  TEST_CASE("own state is private") {
    Cache cache;
    cache.run(cache.plan(all_requests()));
    for (const char* path : {"", "/journal", "/trash", "/quarantine"}) {
      CAPTURE(path);
      const auto dir = cache.fs.open_root(".cachetool" + std::string(path));
      REQUIRE(dir.has_value());
      CHECK(cache.fs.stat(**dir)->mode == 0700);
    }
  }

  TEST_CASE("the journal is on the disk before anything moves") {
    Cache cache;
    cache.run(cache.plan(all_requests()));
    const auto log = cache.faults.log();
    std::size_t written = 0;
    std::size_t synced = 0;
    std::size_t named = 0;
    std::size_t moved = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (log[i].starts_with("write ") && written == 0) written = i;
      if (log[i].starts_with("sync .cachetool.") && synced == 0) synced = i;
      if (log[i].starts_with("rename .cachetool.") && named == 0) named = i;
      if (log[i].starts_with("rename ") && !log[i].starts_with("rename .cachetool.") && moved == 0) moved = i;
    }
    CHECK(0 < written);
    CHECK(written < synced);
    CHECK(synced < named);
    CHECK(log[named + 1] == "sync");
    CHECK(named + 1 < moved);
    // So are the directories that hold it.
    for (std::size_t i = 0; i < named; ++i) {
      if (log[i].starts_with("make_dir ")) CHECK(log[i + 1] == "sync");
    }
  }

  TEST_CASE("units go in the order of the plan, entries before kernels in each") {
    Cache cache;
    cache.run(
        cache.plan({{"kernel", "", Action::kRemove, {"ab/" + kKernel + ".cpp", "ab/" + kKernel + ".so"}},
                    {"entry", "", Action::kRemove, {"fxgraph/ab/fkey/leaf", "aotautograd/akey/entry"}}}));
    std::vector<std::string> moved;
    for (const std::string& call : cache.faults.log()) {
      if (call.starts_with("rename ") && call.ends_with(".0") == false &&
          call.find(".go") == std::string::npos && !call.starts_with("rename .cachetool.")) {
        moved.push_back(call);
      } else if (call.starts_with("rename ") && call.ends_with(".0")) {
        moved.push_back(call);
      }
    }
    CHECK(moved == std::vector<std::string>{"rename " + kKernel + ".so 0.0", "rename " + kKernel + ".cpp 0.1",
                                            "rename entry 1.0", "rename leaf 1.1"});
  }

  TEST_CASE("an empty plan writes nothing") {
    Cache cache;
    const Tree before = tree_of(cache.fs);
    const Outcome outcome = cache.run(cache.plan({}));
    CHECK(outcome.run.empty());
    CHECK(tree_of(cache.fs) == before);
  }

  TEST_CASE("two runs of one second have different names") {
    Cache cache;
    CHECK(cache.run(cache.plan(one(Action::kQuarantine, {"fxgraph/ab/fkey/leaf"}))).run == kRun);
    CHECK(cache.run(cache.plan(one(Action::kQuarantine, {"fxgraph/ab/fkey/other"}))).run == kRun + "-2");
    CHECK(cache.fs.exists(kFiles + "fxgraph/ab/fkey/leaf"));
    CHECK(cache.fs.exists(".cachetool/quarantine/" + kRun + "-2/files/fxgraph/ab/fkey/other"));
  }

  TEST_CASE("an interrupt stops between units") {
    Cache cache;
    Interrupt interrupt;
    const Plan plan = cache.plan(all_requests());
    cache.before(plan, "rename leaf 1.0", [&] { interrupt.request(15); });
    Settings settings;
    settings.interrupt = &interrupt;
    Progress progress;
    settings.progress = &progress;
    const Outcome outcome = cache.run(plan, settings);
    CHECK(outcome.interrupted);
    REQUIRE(outcome.units.size() == 6);
    CHECK(outcome.units[1].state == UnitState::kDone);
    CHECK(outcome.units[2].state == UnitState::kSkipped);
    CHECK(outcome.units[2].why == "the run was interrupted");
    CHECK(progress.snapshot().items_done == 2);
    CHECK(cache.fs.exists(kFiles + "fxgraph/ab/fkey/leaf"));
    CHECK(cache.fs.exists("ab/" + kKernel + ".so"));
    CHECK(cache.fs.list(**cache.fs.open_root(".cachetool/journal"))->empty());
  }

  TEST_CASE("one failure doesn't stop the others and names its path") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.fs.set_error("fxgraph/ab/fkey", ErrorCode::kPermission);
    const Outcome outcome = cache.run(plan);
    REQUIRE(outcome.units[1].state == UnitState::kFailed);
    CHECK(outcome.units[1].error->code == ErrorCode::kPermission);
    CHECK(outcome.units[1].error->path == "fxgraph/ab/fkey/leaf");
    for (const std::size_t other : {0U, 2U, 3U, 4U, 5U})
      CHECK(outcome.units[other].state == UnitState::kDone);
    CHECK(outcome.problems.empty());
  }

  TEST_CASE("a torch process holds the lock") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    CHECK(plan.units[2].locks == std::vector<std::string>{"locks/" + kKernel + ".lock"});
    const auto locks = *cache.fs.open_root("locks");
    const auto held = cache.fs.try_lock(*locks, name(kKernel + ".lock"), LockMode::kExclusive);
    REQUIRE(held.has_value());
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[2].state == UnitState::kSkipped);
    CHECK(outcome.units[2].why == "torch holds locks/" + kKernel + ".lock");
    CHECK(cache.fs.contents("ab/" + kKernel + ".so") == "library");
    CHECK(outcome.units[3].state == UnitState::kDone);
    // The lock file of the other kernel wasn't there and isn't made.
    CHECK(plan.units[3].locks == std::vector<std::string>{"locks/" + kDamaged + ".lock"});
    CHECK_FALSE(cache.fs.exists("locks/" + kDamaged + ".lock"));
  }

  TEST_CASE("the lock is held while the unit goes, and stays as a file") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    bool was_free = true;
    cache.after(plan, "rename " + kKernel + ".so 2.0", [&] {
      const auto locks = *cache.fs.open_root("locks");
      was_free = cache.fs.try_lock(*locks, name(kKernel + ".lock"), LockMode::kExclusive).has_value();
    });
    cache.run(plan);
    CHECK_FALSE(was_free);
    CHECK(cache.fs.exists("locks/" + kKernel + ".lock"));
    CHECK(cache.fs.exists("ab"));
    const auto locks = *cache.fs.open_root("locks");
    CHECK(cache.fs.try_lock(*locks, name(kKernel + ".lock"), LockMode::kExclusive).has_value());
  }

  TEST_CASE("a file system without locks: torch's lock is the file's existence") {
    Cache cache;
    const Plan plan = cache.plan(one(Action::kRemove, {"ab/" + kKernel + ".so"}));
    FaultFileSystem log(cache.fs);
    Cache rehearsal;
    FaultFileSystem first(rehearsal.fs);
    static_cast<void>(execute(first, rehearsal.root, plan, {}));
    const auto calls = first.log();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i].starts_with("try_lock ")) continue;
      log.fail_at(i + 1, {ErrorCode::kUnsupported, "cannot lock: Function not implemented", {}, {}, {}});
    }
    const auto outcome = execute(log, cache.root, plan, {});
    REQUIRE(outcome.has_value());
    REQUIRE(outcome->problems.size() == 1);
    CHECK(outcome->problems[0].path == ".cachetool/lock");
    CHECK(outcome->units[0].state == UnitState::kSkipped);
    CHECK(cache.fs.exists("ab/" + kKernel + ".so"));
  }

  TEST_CASE("what changed since the plan stays") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    SUBCASE("a file was replaced") {
      cache.fs.add_file("ab/" + kKernel + ".so", "library");
    }
    SUBCASE("a file was written to") {
      cache.fs.change_stat("ab/" + kKernel + ".so", [](FileStat& stat) { ++stat.mtime_ns; });
    }
    SUBCASE("a directory is in its place") {
      cache.fs.remove("ab/" + kKernel + ".so");
      cache.fs.add_file("ab/" + kKernel + ".so/x", "");
    }
    const Tree before = tree_of(cache.fs);
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[2].state == UnitState::kSkipped);
    CHECK(outcome.units[2].why.find("changed since it was planned") != std::string::npos);
    const Tree after = tree_of(cache.fs);
    CHECK(at(after, "ab") == at(before, "ab"));
    for (const std::string& call : cache.faults.log()) CHECK_FALSE(call.starts_with("rename " + kKernel));
  }

  TEST_CASE("what is gone is skipped") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.fs.remove("fxgraph/ab");
    cache.fs.remove("ab/" + kKernel + ".cpp");
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[1].state == UnitState::kSkipped);
    CHECK(outcome.units[1].why == "it is gone");
    CHECK_FALSE(outcome.units[1].error.has_value());
    CHECK(outcome.units[2].state == UnitState::kDone);
    CHECK(outcome.units[2].amount == Amount{7, 4096, 1});
    CHECK_FALSE(cache.fs.exists("ab/" + kKernel + ".so"));
    CHECK_FALSE(cache.fs.exists("fxgraph/ab"));
  }

  TEST_CASE("what goes away between the look and the move is skipped as well") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    SUBCASE("the only path") {
      cache.before(plan, "rename leaf 1.0", [&] { cache.fs.remove("fxgraph/ab/fkey/leaf"); });
      const Outcome outcome = cache.run(plan);
      CHECK(outcome.units[1].state == UnitState::kSkipped);
      CHECK(outcome.units[1].why == "it is gone");
    }
    SUBCASE("one of two") {
      cache.before(plan, "rename " + kKernel + ".so 2.0", [&] { cache.fs.remove("ab/" + kKernel + ".so"); });
      const Outcome outcome = cache.run(plan);
      CHECK(outcome.units[2].state == UnitState::kDone);
      CHECK(outcome.units[2].amount == Amount{6, 4096, 1});
      CHECK_FALSE(cache.fs.exists("ab/" + kKernel + ".cpp"));
    }
  }

  TEST_CASE("a directory that grew or changed inside is put back") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    std::string why;
    SUBCASE("grew") {
      cache.fs.add_file("triton/0/DIR/k.ptx", "new");
      why = "triton/0/DIR changed meanwhile: k.ptx in it is not as before";
    }
    SUBCASE("grew at the end") {
      cache.fs.add_file("triton/0/DIR/z", "new");
      why = "triton/0/DIR changed meanwhile: it holds z now";
    }
    SUBCASE("a file in it was replaced") {
      cache.fs.add_file("triton/0/DIR/k.json", "{}");
      why = "triton/0/DIR changed meanwhile: k.json in it changed";
    }
    SUBCASE("a file in it went away") {
      cache.fs.remove("triton/0/DIR/tmp.pid_1/k.ttir");
      why = "triton/0/DIR changed meanwhile: it lacks tmp.pid_1/k.ttir now";
    }
    SUBCASE("it grew right after it was moved aside") {
      cache.after(plan, "rename DIR 4.0",
                  [&] { cache.fs.add_file(".cachetool/trash/" + kRun + "/4.0/k.ptx", "new"); });
      why = "triton/0/DIR changed meanwhile: k.ptx in it is not as before";
    }
    const Tree before = tree_of(cache.fs);
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[4].state == UnitState::kPutBack);
    CHECK(outcome.units[4].why == why);
    CHECK(outcome.units[4].kept.empty());
    const Tree after = tree_of(cache.fs);
    for (const auto& [path, content] : at(before, "triton/0/DIR")) {
      CHECK(at(after, "triton/0/DIR").at(path) == content);
    }
    CHECK(outcome.problems.empty());
  }

  TEST_CASE("a file replaced between the comparison and the move is put back, and its whole unit") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.before(plan, "rename " + kKernel + ".cpp 2.1",
                 [&] { cache.fs.add_file("ab/" + kKernel + ".cpp", "another"); });
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[2].state == UnitState::kPutBack);
    CHECK(cache.fs.contents("ab/" + kKernel + ".cpp") == "another");
    CHECK(cache.fs.contents("ab/" + kKernel + ".so") == "library");
  }

  TEST_CASE("something new in the place of what is put back stays, the old is kept") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.before(plan, "rename " + kKernel + ".cpp 2.1", [&] {
      cache.fs.add_file("ab/" + kKernel + ".cpp", "another");
      cache.fs.add_file("ab/" + kKernel + ".so", "new library");
    });
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[2].state == UnitState::kPutBack);
    CHECK(outcome.units[2].kept == std::vector<std::string>{"ab/" + kKernel + ".so"});
    CHECK(cache.fs.contents("ab/" + kKernel + ".cpp") == "another");
    CHECK(cache.fs.contents("ab/" + kKernel + ".so") == "new library");
    CHECK(cache.fs.contents(kFiles + "ab/" + kKernel + ".so") == "library");
    const auto manifest = cache.fs.contents(".cachetool/quarantine/" + kRun + "/manifest.json");
    REQUIRE(manifest.has_value());
    CHECK(manifest->find("changed while it was being removed, and its place was taken") != std::string::npos);
  }

  TEST_CASE("the directory of what is put back is gone, or is a link now") {
    Cache cache;
    const Plan plan = cache.plan(one(Action::kRemove, {"fxgraph/ab/fkey/leaf"}));
    cache.after(plan, "rename leaf 0.0", [&] {
      cache.fs.change_stat(".cachetool/trash/" + kRun + "/0.0", [](FileStat& stat) { ++stat.mtime_ns; });
      cache.fs.remove("fxgraph/ab/fkey");
    });
    SUBCASE("gone") {}
    SUBCASE("a link out of the cache") {
      cache.fs.add_dir("outside");
      cache.after(plan, "rename leaf 0.0", [&] {
        cache.fs.change_stat(".cachetool/trash/" + kRun + "/0.0", [](FileStat& stat) { ++stat.mtime_ns; });
        cache.fs.remove("fxgraph/ab/fkey");
        cache.fs.add_symlink("fxgraph/ab/fkey", "/outside");
      });
    }
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[0].state == UnitState::kPutBack);
    CHECK(outcome.units[0].kept == std::vector<std::string>{"fxgraph/ab/fkey/leaf"});
    CHECK(cache.fs.contents(kFiles + "fxgraph/ab/fkey/leaf") == "graph one");
    CHECK_FALSE(cache.fs.exists("outside/leaf"));
  }

  TEST_CASE("torch writes a new one while the old is on its way out") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.after(plan, "rename leaf 1.0",
                [&] { cache.fs.add_file("fxgraph/ab/fkey/leaf", "compiled again"); });
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[1].state == UnitState::kDone);
    CHECK(cache.fs.contents("fxgraph/ab/fkey/leaf") == "compiled again");
    CHECK(cache.fs.contents(kFiles + "fxgraph/ab/fkey/leaf") == "graph one");
  }

  TEST_CASE("links and special files are moved as they are, never followed") {
    Cache cache;
    cache.fs.add_file("outside/precious", "p");
    cache.fs.add_symlink("fxgraph/ab/fkey/link", "/outside/precious");
    cache.fs.add_symlink("triton/0/DIR/link", "/outside");
    cache.fs.add_special("triton/0/DIR/fifo", FileType::kFifo);
    const Plan plan = cache.plan({{"link", "", Action::kRemove, {"fxgraph/ab/fkey/link"}},
                                  {"dir", "", Action::kRemove, {"triton/0/DIR"}}});
    REQUIRE(plan.units.size() == 2);
    const Outcome outcome = cache.run(plan);
    CHECK(outcome.units[0].state == UnitState::kDone);
    CHECK(outcome.units[1].state == UnitState::kDone);
    CHECK_FALSE(cache.fs.exists("fxgraph/ab/fkey/link"));
    CHECK_FALSE(cache.fs.exists("triton/0/DIR"));
    CHECK(cache.fs.contents("outside/precious") == "p");
  }

  TEST_CASE("another cachetool is at work") {
    Cache cache;
    const Plan plan = cache.plan(all_requests());
    cache.fs.add_dir(".cachetool");
    cache.fs.change_stat(".cachetool", [](FileStat& stat) { stat.mode = 0700; });
    const auto held =
        cache.fs.try_lock(**cache.fs.open_root(".cachetool"), name("lock"), LockMode::kExclusive);
    const Tree before = tree_of(cache.fs);
    const auto outcome = execute(cache.fs, cache.root, plan, {});
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == ErrorCode::kLocked);
    CHECK(outcome.error().message == "another cachetool is changing this cache");
    CHECK(tree_of(cache.fs) == before);
  }
}
