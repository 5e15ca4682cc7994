#include "verify/leftovers.h"

#include <doctest/doctest.h>

#include "unit/verify/hand_made.h"
#include "verify/processes.h"

using namespace cachetool;
using namespace verify_tests;
using namespace store_tests;
using verify::check_leftovers;
using verify::check_locks;

TEST_SUITE_BEGIN("verify/leftovers");

namespace {

const std::string kGraph = hash_name('f', 'g');
const std::string kAot = hash_name('a', 'g');
const std::string kStem = hash_name('c', 'k');
const std::string kKey = fx_directory(kGraph);
const std::string kTemporary = ".4711.140001.tmp";

std::unique_ptr<verify::EntryFacts> of_release(torch::ReleaseFamily release) {
  auto facts = graph_entry(hash_name('c', 'w'));
  facts->first = facts->last = release;
  return facts;
}

}  // namespace

TEST_CASE("an unfinished write among a key's candidates counts as the release has it") {
  using enum torch::ReleaseFamily;
  for (const auto& [release, severity] : std::vector<std::pair<torch::ReleaseFamily, std::string>>{
           {k2_6, "warning"}, {k2_10, "warning"}, {k2_11, "info"}, {k2_15, "info"}, {kUnknown, "warning"}}) {
    HandMade tree;
    tree.add(kKey + "/" + leaf_name('e'), of_release(release));
    tree.add(kKey + "/" + kTemporary);
    CHECK(tree.lines(check_leftovers) == Lines{severity + " leftover.in-key " + kKey + "/" + kTemporary});
  }
  HandMade alone;
  alone.add(kKey + "/" + kTemporary);
  CHECK(alone.lines(check_leftovers) == Lines{"warning leftover.in-key " + kKey + "/" + kTemporary});

  // No release skips a name without a dot in front.
  HandMade named;
  named.add(kKey + "/" + leaf_name('e'), of_release(k2_15));
  named.add(kKey + "/copy.tmp");
  CHECK(named.lines(check_leftovers) == Lines{"warning leftover.in-key " + kKey + "/copy.tmp"});

  // AOTAutograd up to 2.7 opens one name only.
  HandMade aot;
  aot.add("aotautograd/" + kAot + "/entry", of_release(k2_6));
  aot.add("aotautograd/" + kAot + "/" + kTemporary);
  CHECK(aot.lines(check_leftovers) == Lines{"info leftover.in-key aotautograd/" + kAot + "/" + kTemporary});
}

TEST_CASE("what may still be written is left alone") {
  const std::string path = kStem.substr(1, 2) + "/" + kTemporary;
  const Lines told{"info leftover.temporary " + path};
  const auto lines = [&](std::int64_t age, bool has_proc, bool runs) {
    HandMade tree;
    tree.add(path);
    tree.age(path, age);
    if (has_proc) tree.fs.add_dir("/proc/1");
    if (runs) tree.fs.add_dir("/proc/4711");
    const Lines result = tree.lines(check_leftovers);
    CHECK((result.empty() ? 1 : 0) == tree.not_checkable(verify::checks::kLeftoverTemporary));
    return result;
  };
  CHECK(lines(HandMade::kHour / 2, true, false).empty());
  CHECK(lines(HandMade::kHour * 2, true, false) == told);
  CHECK(lines(HandMade::kHour * 2, false, false) == told);
  CHECK(lines(HandMade::kHour * 2, true, true).empty());
  CHECK(lines(HandMade::kHour * 25, true, true) == told);
  CHECK(lines(-HandMade::kHour, true, false).empty());
}

TEST_CASE("a directory that was being written is one finding and goes as a whole") {
  HandMade tree;
  const std::string kernel = "triton/0/" + repeated('D', 52);
  tree.add(kernel + "/tmp.pid_4711_ab-cd/k.json");
  tree.add(kernel + "/tmp.pid_4711_ab-cd/k.cubin");
  tree.add("triton/0/tmp.0123-4567/k.json");
  tree.add(kStem.substr(1, 2) + "/" + kStem + "_CxxBuild/a.o");
  tree.add(kStem.substr(1, 2) + "/" + kStem + "_CxxBuild/b.o");
  const auto findings = tree.run(check_leftovers);
  REQUIRE(findings.size() == 3);
  for (const auto& finding : findings) CHECK(finding.repair == Lines{finding.path});
  CHECK(findings[0].path == kStem.substr(1, 2) + "/" + kStem + "_CxxBuild");
  CHECK(findings[0].check->id == "leftover.build");
  CHECK(findings[0].message.find("2 files") != std::string::npos);
  CHECK(findings[1].path == kernel + "/tmp.pid_4711_ab-cd");
  CHECK(findings[2].path == "triton/0/tmp.0123-4567");
}

TEST_CASE("caches within the cache, markers, and what lies where torch never looks") {
  const std::string library = shard_file(kStem, "so");
  HandMade tree;
  tree.add("tmpab_c1234/fxgraph/" + kKey.substr(8) + "/" + leaf_name('e'));
  tree.add(library + ".load_ok");
  tree.add("fxgraph/README");
  tree.add(kKey + "/sub/" + leaf_name('e'));
  tree.add("fxgraph/zz/" + kGraph + "/" + leaf_name('e'));
  CHECK(tree.lines(check_leftovers) ==
        Lines{"info leftover.fresh-cache tmpab_c1234", "info leftover.load-marker " + library + ".load_ok",
              "info leftover.unreachable fxgraph", "warning entry.shard fxgraph/zz/" + kGraph,
              "warning leftover.unreachable " + kKey + "/sub"});
  HandMade whole;
  whole.add(library);
  whole.add(library + ".load_ok");
  CHECK(whole.lines(check_leftovers).empty());
}

TEST_CASE("lock files: free ones are counted, held ones are no finding") {
  HandMade tree;
  for (const char fill : {'a', 'b', 'c'}) tree.add("locks/" + hash_name('c', fill) + ".lock", {}, "");
  const auto locks = tree.fs.open_root("/cache/locks");
  const auto held =
      tree.fs.try_lock(**locks, *Name::parse(hash_name('c', 'a') + ".lock"), LockMode::kExclusive);
  REQUIRE(held);
  const auto findings = tree.run(check_locks);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].check->id == "lock.free");
  CHECK(findings[0].path == "locks");
  CHECK(findings[0].message.starts_with("2 lock files"));
}

TEST_CASE("locks that are held by being there") {
  const std::string path = "locks/" + kStem + ".lock";
  const auto lines = [&](std::int64_t age, bool runs, std::optional<ErrorCode> error) {
    HandMade tree;
    tree.add(path, {}, "4711\nhost\n");
    tree.age(path, age);
    tree.fs.add_dir("/proc/1");
    if (runs) tree.fs.add_dir("/proc/4711");
    if (error) tree.fs.set_error("/cache/" + path, error);
    return tree.lines(check_locks);
  };
  CHECK(lines(HandMade::kHour * 2, false, {}) == Lines{"warning lock.abandoned " + path});
  CHECK(lines(HandMade::kHour * 2, true, {}) == Lines{"info lock.free locks"});
  CHECK(lines(1, false, {}) == Lines{"info lock.free locks"});
  // A file system without flock.
  CHECK(lines(HandMade::kHour * 2, false, ErrorCode::kIo) == Lines{"warning lock.abandoned locks"});
  CHECK(lines(1, false, ErrorCode::kIo).empty());
  CHECK(lines(HandMade::kHour * 2, false, ErrorCode::kPermission).empty());
}

TEST_CASE("who writes a file, by its name") {
  CHECK(verify::writer_of(".12.34.tmp") == "12");
  CHECK(verify::writer_of("tmp.pid_56_ab-cd") == "56");
  CHECK(verify::writer_of("model.78.tmp") == "78");
  CHECK(verify::writer_of("tmp.0123-4567").empty());
  CHECK(verify::writer_of(".cachetool.a1b2.tmp").empty());
  CHECK(verify::writer_of("code_state_a.pkl.tmp").empty());
  CHECK(verify::writer_of(".12").empty());
}
