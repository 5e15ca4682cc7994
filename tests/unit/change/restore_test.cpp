#include "change/restore.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "change/execute.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

/// A cache of which everything planned went into quarantine.
struct Quarantined {
  MemoryFileSystem fs;
  DirHandle root;
  Tree before;
  std::string run;

  Quarantined() {
    fill_cache(fs);
    root = *fs.open_root("/");
    before = tree_of(fs);
    std::vector<UnitRequest> requests = all_requests();
    for (UnitRequest& request : requests) request.action = Action::kQuarantine;
    run = execute(fs, root, make_plan(fs, root, requests), {})->run;
  }
  std::string place() const { return ".cachetool/quarantine/" + run; }
};

}  // namespace

TEST_SUITE("change/restore") {
  TEST_CASE("everything is back and the quarantine is gone") {
    Quarantined cache;
    REQUIRE(cache_of(tree_of(cache.fs)) != cache.before);
    const auto restored = restore(cache.fs, cache.root, cache.run, 0);
    REQUIRE(restored.has_value());
    CHECK(restored->complete);
    CHECK(restored->problems.empty());
    REQUIRE(restored->units.size() == 6);
    CHECK(restored->units.front().label == "half");
    for (const RestoredUnit& unit : restored->units) CHECK(unit.done);
    CHECK(cache_of(tree_of(cache.fs)) == cache.before);
    CHECK_FALSE(cache.fs.exists(cache.place()));
    CHECK(restore(cache.fs, cache.root, cache.run, 0).error().code == ErrorCode::kNotFound);
  }

  TEST_CASE("a unit with a place that is taken stays as a whole") {
    Quarantined cache;
    cache.fs.add_file("ab/" + kKernel + ".so", "compiled again");
    cache.fs.add_file("triton/0/DIR/k.json", "compiled again");
    const auto restored = restore(cache.fs, cache.root, cache.run, 0);
    REQUIRE(restored.has_value());
    CHECK_FALSE(restored->complete);
    for (const RestoredUnit& unit : restored->units) {
      CAPTURE(unit.label);
      CHECK(unit.done == (unit.label != "kernel" && unit.label != "triton"));
      CHECK(unit.why.starts_with("something new is at ") != unit.done);
    }
    const Tree tree = tree_of(cache.fs);
    CHECK(tree.at("ab/" + kKernel + ".so") == "compiled again");
    CHECK_FALSE(tree.contains("ab/" + kKernel + ".cpp"));
    CHECK(at(tree, "triton/0/DIR").size() == 2);
    CHECK(tree.at(cache.place() + "/files/ab/" + kKernel + ".cpp") == "source");
    const std::string& manifest = tree.at(cache.place() + "/manifest.json");
    CHECK(manifest.find("fxgraph/ab") == std::string::npos);
    CHECK(manifest.find(kKernel + ".so") != std::string::npos);

    cache.fs.remove("ab/" + kKernel + ".so");
    cache.fs.remove("triton/0/DIR");
    CHECK(restore(cache.fs, cache.root, cache.run, 0)->complete);
    CHECK(cache_of(tree_of(cache.fs)) == cache.before);
  }

  TEST_CASE("directories that are gone are made") {
    Quarantined cache;
    cache.fs.remove("fxgraph");
    cache.before.erase("fxgraph/ab/fkey/other");
    CHECK(restore(cache.fs, cache.root, cache.run, 0)->complete);
    CHECK(cache_of(tree_of(cache.fs)) == cache.before);
    CHECK(cache.fs.stat(**cache.fs.open_root("fxgraph/ab"))->mode == 0755);
  }

  TEST_CASE("cut off at every call it is completed by the next") {
    Quarantined whole;
    FaultFileSystem count(whole.fs);
    REQUIRE(restore(count, whole.root, whole.run, 0)->complete);
    for (std::uint64_t number = 1; number <= count.calls(); ++number) {
      for (const bool once : {false, true}) {
        CAPTURE(number);
        CAPTURE(once);
        Quarantined cache;
        FaultFileSystem fs(cache.fs);
        const Error error{ErrorCode::kIo, "gone", {}, {}, {}};
        if (once) {
          fs.fail_at(number, error);
        } else {
          fs.fail_from(number, error);
        }
        static_cast<void>(restore(fs, cache.root, cache.run, 0));
        if (cache.fs.exists(cache.place() + "/record")) {
          const auto again = restore(cache.fs, cache.root, cache.run, 0);
          REQUIRE(again.has_value());
          CHECK(again->complete);
        }
        CHECK(cache_of(tree_of(cache.fs)) == cache.before);
      }
    }
  }

  TEST_CASE("a kill between link and unlink left two names of a file") {
    Quarantined cache;
    cache.fs.add_hard_link("fxgraph/ab/fkey/leaf", cache.place() + "/files/fxgraph/ab/fkey/leaf");
    CHECK(restore(cache.fs, cache.root, cache.run, 0)->complete);
    CHECK(cache_of(tree_of(cache.fs)) == cache.before);
  }

  TEST_CASE("names that are no run, and records that aren't to be read") {
    Quarantined cache;
    CHECK(restore(cache.fs, cache.root, "..", 0).error().code == ErrorCode::kUsage);
    CHECK(restore(cache.fs, cache.root, "20200101T000000Z", 0).error().code == ErrorCode::kNotFound);
    const std::string record = *cache.fs.contents(cache.place() + "/record");
    cache.fs.add_file(cache.place() + "/record", record.substr(1));
    const Tree before = tree_of(cache.fs);
    const auto damaged = restore(cache.fs, cache.root, cache.run, 0);
    REQUIRE_FALSE(damaged.has_value());
    CHECK(damaged.error().code == ErrorCode::kMalformed);
    CHECK(damaged.error().path == cache.place() + "/record");
    CHECK(tree_of(cache.fs) == before);
    cache.fs.add_file(".cachetool/quarantine/20200101T000000Z/record", record);
    CHECK(restore(cache.fs, cache.root, "20200101T000000Z", 0).error().message ==
          "is the record of another run");
  }
}
