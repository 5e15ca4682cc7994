#include "verify/ownership.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "unit/store/trees.h"
#include "verify/owner_checks.h"
#include "verify/scan/scan_tree.h"

using namespace cachetool;
using namespace cachetool::verify;

TEST_SUITE_BEGIN("verify/ownership");

namespace {

constexpr Loader kAda{1000};

FileStat stat_of(std::uint32_t uid, std::uint32_t mode) {
  FileStat stat;
  stat.uid = uid;
  stat.mode = mode;
  return stat;
}

void own(MemoryFileSystem& fs, const std::string& path, std::uint32_t uid, std::uint32_t mode) {
  fs.change_stat(path, [&](FileStat& stat) {
    stat.uid = uid;
    stat.mode = mode;
  });
}

/// A cache of one entry that belongs to user 1000, below root's directories.
struct Cache {
  MemoryFileSystem fs;
  std::string key = store_tests::hash_name('f', 'b');
  std::string directory = "/home/cache/" + store_tests::fx_directory(key);
  std::string leaf = directory + "/" + store_tests::leaf_name('c');

  Cache() {
    fs.add_file(leaf, "\x80\x04N.");
    for (const char* above : {"/", "/home"}) own(fs, above, 0, 0755);
    for (std::string path = directory; path != "/home"; path.erase(path.rfind('/')))
      own(fs, path, 1000, 0755);
    own(fs, leaf, 1000, 0644);
  }

  std::vector<OwnerFinding> owners(const std::string& path = "/home/cache") {
    auto target = resolve_scan_target(fs, store_tests::plain_environment(), path);
    REQUIRE(target);
    ThreadPool pool(1);
    TreeScanOptions options;
    options.loader = kAda;
    auto scan = scan_tree(fs, *target, pool, options, [](const ScannedFile&) { return true; });
    REQUIRE(scan);
    return scan->owners;
  }
};

}  // namespace

TEST_CASE("a file is fine when only the loader and root may write it") {
  CHECK(judge_file(stat_of(1000, 0644), kAda) == nullptr);
  CHECK(judge_file(stat_of(0, 0755), kAda) == nullptr);
  CHECK(judge_file(stat_of(1001, 0644), kAda) == &checks::kOwnerForeign);
  CHECK(judge_file(stat_of(1000, 0646), kAda) == &checks::kOwnerWorldWritable);
  CHECK(judge_file(stat_of(1000, 0664), kAda) == &checks::kOwnerGroupWritable);
  CHECK(judge_file(stat_of(1000, 0444), Loader{0}) == &checks::kOwnerForeign);
}

TEST_CASE("a sticky directory is fine on the way and not inside") {
  CHECK(judge_directory(stat_of(0, 01777), DirectoryPlace::kAbove, kAda) == nullptr);
  CHECK(judge_directory(stat_of(0, 01777), DirectoryPlace::kInside, kAda) == &checks::kOwnerWorldWritable);
  CHECK(judge_directory(stat_of(0, 0777), DirectoryPlace::kAbove, kAda) == &checks::kOwnerWay);
  CHECK(judge_directory(stat_of(1001, 0755), DirectoryPlace::kAbove, kAda) == &checks::kOwnerWay);
  CHECK(judge_directory(stat_of(1000, 0755), DirectoryPlace::kInside, kAda) == nullptr);
}

TEST_CASE("a cache of one's own has no findings") {
  Cache cache;
  CHECK(cache.owners().empty());
}

TEST_CASE("files and directories are reported by directory") {
  Cache cache;
  own(cache.fs, cache.leaf, 1001, 0644);
  own(cache.fs, "/home/cache/fxgraph", 1000, 0777);
  const auto owners = cache.owners();
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].check == &checks::kOwnerForeign);
  CHECK(owners[0].path == store_tests::fx_directory(cache.key));
  CHECK(owners[0].files == 1);
  CHECK(owners[0].example == store_tests::leaf_name('c'));
  CHECK(owners[0].uid == 1001);
  CHECK_FALSE(owners[0].itself);
  CHECK(owners[1].check == &checks::kOwnerWorldWritable);
  CHECK(owners[1].path == "fxgraph");
  CHECK(owners[1].itself);
  CHECK(owners[1].mode == 0777);
}

TEST_CASE("many files of a directory are one finding") {
  Cache cache;
  for (int i = 0; i < 50; ++i) {
    const std::string path = "/home/cache/ab/file" + std::to_string(i);
    cache.fs.add_file(path, "x");
    own(cache.fs, path, 1000, 0666);
  }
  own(cache.fs, "/home/cache/ab", 1000, 0755);
  const auto owners = cache.owners();
  REQUIRE(owners.size() == 1);
  CHECK(owners[0].files == 50);
  CHECK(owners[0].example == "file0");
}

TEST_CASE("the way to the cache counts, links included") {
  Cache cache;
  own(cache.fs, "/home", 0, 0777);
  auto owners = cache.owners();
  REQUIRE(owners.size() == 1);
  CHECK(owners[0].check == &checks::kOwnerWay);
  CHECK(owners[0].path == "/home");
  own(cache.fs, "/home", 0, 01777);
  CHECK(cache.owners().empty());
  own(cache.fs, "/home", 1001, 0755);
  CHECK(cache.owners().size() == 1);
}

TEST_CASE("a link in a file's place and a hard link to outside are told") {
  Cache cache;
  cache.fs.add_symlink(cache.directory + "/link", "/etc/passwd");
  cache.fs.add_hard_link("/home/outside", cache.leaf);
  const auto owners = cache.owners();
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].check == &checks::kOwnerLink);
  CHECK(owners[0].example == "link");
  CHECK(owners[1].check == &checks::kOwnerHardLink);
}

TEST_CASE("two names inside are no hard link to outside") {
  Cache cache;
  cache.fs.add_hard_link(cache.directory + "/" + store_tests::leaf_name('d'), cache.leaf);
  CHECK(cache.owners().empty());
}

TEST_SUITE_END();
