#include "change/own_state.h"

#include <doctest/doctest.h>

#include <string>

#include "change/execute.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

constexpr std::uint32_t kUser = 1000;

Expected<Outcome> run(MemoryFileSystem& fs) {
  const DirHandle root = *fs.open_root("/");
  const Plan plan = make_plan(fs, root, all_requests());
  return execute(fs, root, plan, {kUser, nullptr, nullptr});
}

}  // namespace

TEST_SUITE("change/own_state") {
  TEST_CASE("what isn't to be trusted is not used, and nothing is changed") {
    MemoryFileSystem fs;
    fill_cache(fs);
    ErrorCode expected = ErrorCode::kPermission;
    const auto prepare = [&](std::uint32_t uid, std::uint32_t mode) {
      fs.add_dir(".cachetool");
      fs.change_stat(".cachetool", [&](FileStat& stat) {
        stat.uid = uid;
        stat.mode = mode;
      });
    };
    std::string message;
    SUBCASE("of another user") {
      prepare(1001, 0700);
      message = "belongs to user 1001, who could have prepared what it holds";
    }
    SUBCASE("others may write") {
      prepare(kUser, 0702);
      message = "others may write in it (mode 0702)";
    }
    SUBCASE("the group may write") {
      prepare(0, 0770);
      message = "others may write in it (mode 0770)";
    }
    SUBCASE("a link") {
      fs.add_dir("elsewhere");
      fs.add_symlink(".cachetool", "elsewhere");
      expected = ErrorCode::kNotRegular;
      message = "is a symbolic link, not a directory";
    }
    SUBCASE("a file") {
      fs.add_file(".cachetool", "");
      expected = ErrorCode::kNotRegular;
      message = "is a regular file, not a directory";
    }
    SUBCASE("another file system") {
      prepare(kUser, 0700);
      fs.set_device(".cachetool", 7);
      expected = ErrorCode::kMountPoint;
      message = "is on another file system than its directory";
    }
    const Tree before = tree_of(fs);
    const auto outcome = run(fs);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == expected);
    CHECK(outcome.error().message == message);
    CHECK(outcome.error().path == ".cachetool");
    CHECK(tree_of(fs) == before);
    CHECK_FALSE(recover(fs, *fs.open_root("/"), kUser).has_value());
    CHECK(tree_of(fs) == before);
  }

  TEST_CASE("a part of it is a link or a file") {
    for (const char* part : {"journal", "trash", "quarantine", "lock"}) {
      for (const bool link : {true, false}) {
        CAPTURE(part);
        CAPTURE(link);
        MemoryFileSystem fs;
        fill_cache(fs);
        fs.add_dir("elsewhere");
        const std::string path = ".cachetool/" + std::string(part);
        if (link) {
          fs.add_symlink(path, "/elsewhere");
        } else if (path.ends_with("lock")) {
          fs.add_dir(path);
        } else {
          fs.add_file(path, "");
        }
        const Tree before = cache_of(tree_of(fs));
        const auto outcome = run(fs);
        REQUIRE_FALSE(outcome.has_value());
        CHECK(outcome.error().code == ErrorCode::kNotRegular);
        CHECK(outcome.error().path == path);
        CHECK(cache_of(tree_of(fs)) == before);
      }
    }
  }

  TEST_CASE("of this user or of root it is used") {
    for (const std::uint32_t uid : {kUser, 0U}) {
      MemoryFileSystem fs;
      fill_cache(fs);
      fs.add_dir(".cachetool");
      fs.change_stat(".cachetool", [&](FileStat& stat) {
        stat.uid = uid;
        stat.mode = 0755;
      });
      const auto outcome = run(fs);
      REQUIRE(outcome.has_value());
      CHECK(outcome->units[0].state == UnitState::kDone);
    }
  }

  TEST_CASE("recovery where there is nothing makes nothing") {
    MemoryFileSystem fs;
    fill_cache(fs);
    const Tree before = tree_of(fs);
    const auto recovery = recover(fs, *fs.open_root("/"), kUser);
    REQUIRE(recovery.has_value());
    CHECK(recovery->runs.empty());
    CHECK(tree_of(fs) == before);
  }
}
