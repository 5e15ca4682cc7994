#include "store/walk.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/fault_file_system.h"
#include "base/posix_file_system.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

const std::string kModule = hash_name('c', 'm');
const std::string kKey = hash_name('f', 'k');

Recorder walk(FileSystem& fs, const std::string& path, const WalkOptions& options = {}) {
  Recorder recorder;
  const auto source = open_source(fs, path);
  REQUIRE(source);
  CHECK(source->walk(options, recorder));
  return recorder;
}

bool skipped_with(const Recorder& recorder, const std::string& path, ErrorCode code) {
  return std::any_of(recorder.left_out.begin(), recorder.left_out.end(),
                     [&](const Skipped& item) { return item.path == path && item.error.code == code; });
}

}  // namespace

TEST_SUITE("store/walk") {
  TEST_CASE("files come classified and in order") {
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "abc");
    fs.add_file("/cache/" + fx_directory(kKey) + "/" + leaf_name('x'), "");
    fs.add_file("/cache/" + fx_directory(kKey) + "/.1.2.tmp", "");
    fs.add_file("/cache/notes.txt", "");
    const Recorder recorder = walk(fs, "/cache");
    const std::vector<std::string> expected{"temporary " + fx_directory(kKey) + "/.1.2.tmp",
                                            "fxgraph " + fx_directory(kKey) + "/" + leaf_name('x'),
                                            "module " + shard_file(kModule, "py"), "unknown notes.txt"};
    CHECK(recorder.found == expected);
    CHECK(recorder.left_out.empty());
  }

  TEST_CASE("links, FIFOs, sockets and devices are counted and never followed") {
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "");
    fs.add_file("/outside/" + shard_file(kModule, "so"), "");
    fs.add_symlink("/cache/mm/link.py", "/outside/mm/" + kModule + ".so");
    fs.add_symlink("/cache/qq", "/outside/mm");
    fs.add_symlink("/cache/up", "..");
    fs.add_special("/cache/mm/pipe", FileType::kFifo);
    fs.add_special("/cache/mm/socket", FileType::kSocket);
    fs.add_special("/cache/mm/device", FileType::kDevice);
    const Recorder recorder = walk(fs, "/cache");
    CHECK(recorder.found.size() == 1);
    CHECK(recorder.left_out.size() == 6);
    for (const char* path : {"mm/link.py", "qq", "up", "mm/pipe", "mm/socket", "mm/device"}) {
      CHECK(skipped_with(recorder, path, ErrorCode::kNotRegular));
    }
  }

  TEST_CASE("names may hold any bytes") {
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "");
    const std::string hostile[] = {
        "mm/\xff\xfe\x80.py", "mm/line\nbreak.py", "mm/\x1b[31mred", "mm/ ", "mm/-rf", "mm/..."};
    for (const std::string& name : hostile) fs.add_file("/cache/" + name, "");
    const Recorder recorder = walk(fs, "/cache");
    for (const std::string& name : hostile) {
      CHECK(std::find(recorder.found.begin(), recorder.found.end(), "unknown " + name) !=
            recorder.found.end());
    }
  }

  TEST_CASE("what can't be read is left out with its reason, the rest is there") {
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "");
    fs.add_file("/cache/aa/" + hash_name('c', 'a') + ".py", "");
    fs.add_file("/cache/other/file", "");
    fs.set_error("/cache/aa", ErrorCode::kPermission);
    fs.set_device("/cache/other", 77);
    const Recorder recorder = walk(fs, "/cache");
    CHECK(recorder.found == std::vector<std::string>{"module " + shard_file(kModule, "py")});
    CHECK(skipped_with(recorder, "aa", ErrorCode::kPermission));
    CHECK(skipped_with(recorder, "other", ErrorCode::kMountPoint));
  }

  TEST_CASE("whatever vanishes during the walk, it goes on") {
    MemoryFileSystem inner;
    const auto fill = [&] {
      for (const char c : {'a', 'b', 'd'})
        inner.add_file("/cache/" + shard_file(hash_name('c', c), "py"), "");
    };
    fill();
    std::uint64_t calls = 0;
    {
      FaultFileSystem fs(inner);
      walk(fs, "/cache");
      calls = fs.calls();
    }
    std::size_t vanished = 0;
    for (std::uint64_t number = 1; number <= calls; ++number) {
      fill();
      FaultFileSystem fs(inner);
      auto set = resolve_cache(fs, plain_environment(), "/cache");
      REQUIRE(set);
      const auto source = make_directory_source(fs, std::move(*set));
      fs.hook_at(fs.calls() + number, [&] { inner.remove("/cache/bb"); });
      Recorder recorder;
      CHECK(source->walk({}, recorder));
      CHECK(recorder.found.size() + recorder.left_out.size() >= 2);
      for (const Skipped& skipped : recorder.left_out) {
        CHECK(skipped.error.code == ErrorCode::kVanished);
        ++vanished;
      }
    }
    CHECK(vanished > 0);
  }

  TEST_CASE("directories nested too deep end the descent, not the walk") {
    MemoryFileSystem fs;
    std::string deep = "/cache";
    for (int i = 0; i < 100; ++i) deep += "/d";
    fs.add_file(deep + "/file", "");
    fs.add_file("/cache/" + shard_file(kModule, "py"), "");
    const Recorder recorder = walk(fs, "/cache");
    CHECK(recorder.found.size() == 1);
    REQUIRE(recorder.left_out.size() == 1);
    CHECK(recorder.left_out[0].error.code == ErrorCode::kLimitDepth);
  }

  TEST_CASE("own state is not part of the cache, a scope limits the walk, a sink may stop it") {
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "");
    fs.add_file("/cache/" + shard_file(kModule, "so"), "");
    fs.add_file("/cache/" + shard_file(hash_name('c', 'q'), "py"), "");
    fs.add_file("/cache/.cachetool/journal", "");
    CHECK(walk(fs, "/cache").found.size() == 3);
    WalkOptions options;
    options.own_state = true;
    CHECK(walk(fs, "/cache", options).found.size() == 4);
    CHECK(walk(fs, "/cache/mm").found.size() == 2);
    CHECK(walk(fs, "/cache/" + shard_file(kModule, "so")).found ==
          std::vector<std::string>{"shared-object " + shard_file(kModule, "so")});
    options.whole_roots = true;
    CHECK(walk(fs, "/cache/mm", options).found.size() == 4);
    Recorder recorder;
    recorder.stop_after = 2;
    CHECK(open_source(fs, "/cache")->walk({}, recorder));
    CHECK(recorder.found.size() == 2);
  }

  TEST_CASE("sizes come with the walk only when asked for") {
    struct Sizes final : ArtifactSink {
      std::vector<std::optional<FileStat>> stats;
      bool artifact(const Artifact& artifact) override { return stats.push_back(artifact.stat), true; }
      void skipped(const Skipped&) override {}
    };
    MemoryFileSystem fs;
    fs.add_file("/cache/" + shard_file(kModule, "py"), "12345");
    const auto source = open_source(fs, "/cache");
    Sizes with, without;
    WalkOptions options;
    CHECK(source->walk(options, with));
    options.with_stat = false;
    CHECK(source->walk(options, without));
    REQUIRE(with.stats.size() == 1);
    CHECK(with.stats[0]->size == 5);
    REQUIRE(without.stats.size() == 1);
    CHECK_FALSE(without.stats[0]);
  }

  TEST_CASE("a real directory with everything that can be in the way") {
    namespace stdfs = std::filesystem;
    const stdfs::path scratch =
        stdfs::temp_directory_path() / ("cachetool-walk-" + std::to_string(::getpid()));
    stdfs::remove_all(scratch);
    stdfs::create_directories(scratch / "mm");
    std::ofstream(scratch / "mm" / (kModule + ".py")) << "text";
    std::ofstream(scratch / "mm" / "\xff\xfe") << "bytes that are no UTF-8";
    stdfs::create_symlink("..", scratch / "mm" / "loop");
    stdfs::create_symlink("/nonexistent", scratch / "dangling");
    REQUIRE(::mkfifo((scratch / "mm" / "pipe").c_str(), 0600) == 0);
    stdfs::permissions(scratch / "mm", stdfs::perms::owner_read | stdfs::perms::owner_exec);
    const auto fs = make_posix_file_system();
    const Recorder recorder = walk(*fs, scratch.string());
    CHECK(recorder.found == std::vector<std::string>{"module mm/" + kModule + ".py", "unknown mm/\xff\xfe"});
    CHECK(recorder.left_out.size() == 3);
    for (const char* path : {"mm/loop", "dangling", "mm/pipe"}) {
      CHECK(skipped_with(recorder, path, ErrorCode::kNotRegular));
    }
    stdfs::permissions(scratch / "mm", stdfs::perms::owner_all);
    stdfs::remove_all(scratch);
  }
}
