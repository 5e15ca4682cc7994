#include "change/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "change/overlap.h"
#include "change/torch_locks.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

std::vector<std::string> paths_of(const PlannedUnit& unit) {
  std::vector<std::string> paths;
  for (const PlannedPath& path : unit.paths) paths.push_back(path.path);
  return paths;
}

UnitRequest request(std::string label, std::vector<std::string> paths, Action action = Action::kRemove) {
  std::string reason = "why " + label;
  return {std::move(label), std::move(reason), action, std::move(paths)};
}

}  // namespace

TEST_SUITE("change/plan") {
  TEST_CASE("looks at everything and writes nothing") {
    MemoryFileSystem inner;
    fill_cache(inner);
    FaultFileSystem fs(inner);
    const DirHandle root = *inner.open_root("/");
    const Tree before = tree_of(inner);
    const Plan plan = make_plan(fs, root, all_requests());
    CHECK(tree_of(inner) == before);
    for (const std::string& call : fs.log()) {
      const std::string function = call.substr(0, call.find(' '));
      CHECK((function == "stat" || function == "open_dir" || function == "list"));
    }
    REQUIRE(plan.units.size() == 6);
    CHECK(plan.left_out.empty());
    CHECK(plan.units[0].label == "aot");
    CHECK(plan.units[0].reason == "old");
    CHECK(plan.units[0].action == Action::kRemove);
    CHECK(plan.units[0].paths[0].expected.identity.size == 3);
    CHECK(plan.units[4].amount == Amount{2 + 5 + 2, 3 * 4096, 3});
    std::vector<std::string> members;
    for (const Member& member : plan.units[4].paths[0].expected.members) members.push_back(member.path);
    CHECK(members == std::vector<std::string>{"k.cubin", "k.json", "tmp.pid_1", "tmp.pid_1/k.ttir"});
    CHECK(plan.amount().files == 10);
  }

  TEST_CASE("the paths of a unit go in an order that is safe for torch") {
    MemoryFileSystem fs;
    const std::vector<std::string> ordered = {
        "aotautograd/a/e", "fxgraph/ab/f/l", "ab/c.so.load_ok", "ab/x.best_config", "ab/c.cubin",
        "ab/c.so",         "ab/c.py",        "ab/c.main.cpp",   "ab/c.h",           "triton/0/DIR"};
    for (const std::string& path : ordered)
      fs.add_file(path == "triton/0/DIR" ? path + "/k.json" : path, "x");
    std::vector<std::string> reversed(ordered.rbegin(), ordered.rend());
    const Plan plan = make_plan(fs, *fs.open_root("/"), {request("all", reversed)});
    REQUIRE(plan.units.size() == 1);
    CHECK(paths_of(plan.units[0]) == ordered);
  }

  TEST_CASE("what must stay while torch may run is left out") {
    MemoryFileSystem fs;
    fill_cache(fs);
    fs.add_file("k.halide/lock", "");
    for (const std::string& path :
         {std::string("locks/") + kKernel + ".lock", std::string("locks"), std::string("ab"),
          std::string("fxgraph/ab"), std::string("k.halide/lock"), std::string(), std::string("/"),
          std::string(".cachetool"), std::string(".cachetool/lock"), std::string("../x"),
          std::string("a/./b")}) {
      CAPTURE(path);
      const Plan plan = make_plan(fs, *fs.open_root("/"), {request("it", {"fxgraph/ab/fkey/leaf", path})});
      CHECK(plan.units.empty());
      REQUIRE(plan.left_out.size() == 1);
      CHECK(plan.left_out[0].label == "it");
      REQUIRE(plan.left_out[0].error.has_value());
      CHECK(plan.left_out[0].error->code == ErrorCode::kUsage);
      CHECK_FALSE(plan.left_out[0].why.empty());
    }
  }

  TEST_CASE("what is gone, and what can't be looked at") {
    MemoryFileSystem fs;
    fill_cache(fs);
    fs.add_symlink("link", "triton");
    fs.set_error("triton/0/HALF/empty", ErrorCode::kPermission);
    fs.add_dir("triton/0/DISK/mount");
    fs.set_device("triton/0/DISK/mount", 9);
    const Plan plan =
        make_plan(fs, *fs.open_root("/"),
                  {request("gone", {"xx/none", "fxgraph/zz/k/l"}),
                   request("partly", {"xx/none.cpp", "ab/cneighbour.so"}), request("link", {"link/0/DIR"}),
                   request("closed", {"triton/0/HALF"}), request("mount", {"triton/0/DISK"})});
    REQUIRE(plan.units.size() == 1);
    CHECK(paths_of(plan.units[0]) == std::vector<std::string>{"ab/cneighbour.so"});
    REQUIRE(plan.left_out.size() == 5);
    CHECK(plan.left_out[0].label == "gone");
    CHECK(plan.left_out[0].why == "it is gone");
    CHECK_FALSE(plan.left_out[0].error.has_value());
    CHECK(plan.left_out[1].why == "xx/none.cpp is gone");
    CHECK(plan.left_out[2].error->code == ErrorCode::kNotRegular);
    CHECK(plan.left_out[3].error->code == ErrorCode::kPermission);
    CHECK(plan.left_out[3].error->path == "triton/0/HALF/empty");
    CHECK(plan.left_out[4].error->code == ErrorCode::kMountPoint);
  }

  TEST_CASE("a directory that changes while it is looked at") {
    MemoryFileSystem inner;
    fill_cache(inner);
    FaultFileSystem fs(inner);
    const DirHandle root = *inner.open_root("/");
    fs.hook_at(6, [&] { inner.remove("triton/0/DIR/k.json"); });
    const Plan plan = make_plan(fs, root, {request("it", {"triton/0/DIR"})});
    CHECK(fs.log()[5] == "stat k.cubin");
    CHECK(plan.units.empty());
    REQUIRE(plan.left_out.size() == 1);
    CHECK(plan.left_out[0].why == "something is changing it at this moment");
    CHECK_FALSE(plan.left_out[0].error.has_value());
  }

  TEST_CASE("a directory nested too deep is left out") {
    MemoryFileSystem fs;
    std::string path = "triton/0/DIR";
    for (int i = 0; i < 63; ++i) path += "/d";
    fs.add_file(path + "/file", "x");
    CHECK(make_plan(fs, *fs.open_root("/"), {request("it", {"triton/0/DIR"})}).units.size() == 1);
    fs.add_file(path + "/d/file", "x");
    const Plan plan = make_plan(fs, *fs.open_root("/"), {request("it", {"triton/0/DIR"})});
    CHECK(plan.units.empty());
    REQUIRE(plan.left_out.size() == 1);
    CHECK(plan.left_out[0].error->code == ErrorCode::kLimitDepth);
  }

  TEST_CASE("hard links count once") {
    MemoryFileSystem fs;
    fs.add_file("triton/0/DIR/a", "12345");
    fs.add_hard_link("triton/0/DIR/b", "triton/0/DIR/a");
    const Plan plan = make_plan(fs, *fs.open_root("/"), {request("it", {"triton/0/DIR"})});
    CHECK(plan.amount() == Amount{5, 4096, 1});
  }

  TEST_CASE("requests that overlap become one unit") {
    const auto joined =
        join_overlapping({request("a", {"x/one"}), request("b", {"d"}), request("c", {"d/e/f", "x/one"}),
                          request("d", {"d-e", "da"}), request("e", {"d"}, Action::kQuarantine)});
    REQUIRE(joined.size() == 2);
    CHECK(joined[0].label == "a");
    CHECK(joined[0].reason == "why a, why b, why c, why e");
    CHECK(joined[0].action == Action::kQuarantine);
    CHECK(joined[0].paths == std::vector<std::string>{"d", "x/one"});
    CHECK(joined[1].label == "d");
    CHECK(joined[1].action == Action::kRemove);
    CHECK(joined[1].paths == std::vector<std::string>{"d-e", "da"});
  }

  TEST_CASE("the same reason is said once") {
    const auto joined = join_overlapping({{"a", "name", Action::kRemove, {"x"}, {"l1"}},
                                          {"b", "name", Action::kRemove, {"x"}, {"l2"}},
                                          {"c", "na", Action::kRemove, {"x"}, {}}});
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].reason == "name, na");
    CHECK(joined[0].locks == std::vector<std::string>{"l1", "l2"});
  }

  TEST_CASE("invalid paths overlap with nothing") {
    CHECK(join_overlapping({request("a", {""}), request("b", {"x"})}).size() == 2);
  }

  TEST_CASE("torch's locks of a path") {
    const auto locks = [](const std::string& path) { return torch_locks_of(path); };
    using Paths = std::vector<std::string>;
    CHECK(locks("ab/" + kKernel + ".main.so") == Paths{"locks/" + kKernel + ".lock"});
    CHECK(locks("ab/" + kKernel + ".so.load_ok") == Paths{"locks/" + kKernel + ".lock"});
    CHECK(locks("h/rank_0_0/inductor_cache/ab/c1.cpp") == Paths{"h/rank_0_0/inductor_cache/locks/c1.lock"});
    CHECK(locks(kKernel + "/" + kDamaged + ".wrapper.so") == Paths{"locks/" + kDamaged + ".lock"});
    CHECK(locks("precompiled_headers/c1.h.gch") == Paths{"precompiled_headers/locks/c1.lock"});
    CHECK(locks("dynamo/code_state_x.pkl") == Paths{"dynamo/code_state_x.pkl.lock"});
    CHECK(locks("memoizer_cache.json") == Paths{"memoizer_cache.lock"});
    CHECK(locks("ab/" + kKernel + ".py").empty());
    CHECK(locks("ab/0.best_config").empty());
    CHECK(locks("ab/.123.456.tmp").empty());
    CHECK(locks("fxgraph/ab/fkey/leaf").empty());
    CHECK(locks("triton/0/DIR/k.json").empty());
    CHECK(locks("").empty());
  }

  TEST_CASE("locks inside a directory are taken as well") {
    MemoryFileSystem fs;
    fs.add_file("hash/inductor_cache/locks/c1.lock", "");
    fs.add_file("hash/inductor_cache/ab/c1.so", "");
    fs.add_file("hash/k.halide/lock", "");
    const Plan plan = make_plan(fs, *fs.open_root("/"), {request("it", {"hash"})});
    REQUIRE(plan.units.size() == 1);
    CHECK(plan.units[0].locks ==
          std::vector<std::string>{"hash/inductor_cache/locks/c1.lock", "hash/k.halide/lock"});
  }
}
