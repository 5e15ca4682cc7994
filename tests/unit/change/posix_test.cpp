// The engine on a real file system: a scratch directory, a second process, a kill.

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/fault_file_system.h"
#include "base/posix_file_system.h"
#include "change/execute.h"
#include "change/recover.h"
#include "change/restore.h"
#include "unit/base/scratch_dir.h"
#include "unit/change/change_tree.h"

using namespace cachetool;
using namespace cachetool::change;
using namespace cachetool::test;

namespace {

/// The cache of fill_cache on the disk.
struct DiskCache {
  ScratchDir scratch;
  std::unique_ptr<FileSystem> fs = make_posix_file_system();
  DirHandle root;

  DiskCache() {
    MemoryFileSystem memory;
    fill_cache(memory);
    for (const auto& [path, content] : tree_of(memory)) {
      if (content == "/") {
        std::filesystem::create_directories(scratch / path);
      } else {
        scratch.write(path, content);
      }
    }
    root = *fs->open_root(scratch.path().string());
  }

  Settings settings() const { return {::geteuid(), nullptr, nullptr}; }
  Plan plan() { return make_plan(*fs, root, all_requests()); }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      found[std::filesystem::relative(entry.path(), scratch.path()).string()] = {
          std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    return found;
  }
};

/// Runs `work` in a child; its exit status, or minus the signal that ended it.
template <class Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_SUITE("change/posix") {
  TEST_CASE("a whole run, and its restoration") {
    DiskCache cache;
    const auto before = cache.files();
    const auto outcome = execute(*cache.fs, cache.root, cache.plan(), cache.settings());
    REQUIRE(outcome.has_value());
    for (const UnitOutcome& unit : outcome->units) CHECK(unit.state == UnitState::kDone);
    CHECK(outcome->problems.empty());
    struct stat own{};
    REQUIRE(::stat((cache.scratch / ".cachetool").c_str(), &own) == 0);
    CHECK((own.st_mode & 07777) == 0700);
    CHECK(std::filesystem::is_empty(cache.scratch / ".cachetool/journal"));
    CHECK(std::filesystem::is_empty(cache.scratch / ".cachetool/trash"));
    CHECK_FALSE(std::filesystem::exists(cache.scratch / "triton/0/DIR"));
    CHECK(std::filesystem::exists(cache.scratch / outcome->quarantine / "files/triton/0/HALF/k.json"));

    const auto restored = restore(*cache.fs, cache.root, outcome->run, ::geteuid());
    REQUIRE(restored.has_value());
    CHECK(restored->complete);
    auto after = cache.files();
    after.erase(".cachetool/lock");
    for (const auto& [path, content] : before) {
      const bool removed = path.starts_with("aotautograd/") || path.starts_with("ab/" + kKernel) ||
                           path.starts_with("triton/0/DIR/");
      CHECK(after.contains(path) != removed);
      if (!removed) CHECK(after[path] == content);
    }
    CHECK(after.size() == before.size() - 6);
  }

  TEST_CASE("a dry run leaves no trace") {
    DiskCache cache;
    const auto modified = std::filesystem::last_write_time(cache.scratch.path());
    CHECK(cache.plan().units.size() == 6);
    CHECK_FALSE(std::filesystem::exists(cache.scratch / ".cachetool"));
    CHECK(std::filesystem::last_write_time(cache.scratch.path()) == modified);
  }

  TEST_CASE("another process has the lock") {
    DiskCache cache;
    const Plan plan = cache.plan();
    std::filesystem::create_directory(cache.scratch / ".cachetool");
    ::chmod((cache.scratch / ".cachetool").c_str(), 0700);
    const int held = ::open((cache.scratch / ".cachetool/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
    CHECK(in_child([&] {
            const auto outcome = execute(*cache.fs, cache.root, plan, cache.settings());
            return !outcome && outcome.error().code == ErrorCode::kLocked ? 0 : 1;
          }) == 0);
    CHECK(std::filesystem::exists(cache.scratch / "triton/0/DIR/k.json"));
    ::close(held);
    CHECK(execute(*cache.fs, cache.root, plan, cache.settings()).has_value());
  }

  TEST_CASE("another process holds torch's lock of a kernel") {
    DiskCache cache;
    const int held = ::open((cache.scratch / ("locks/" + kKernel + ".lock")).c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
    const auto outcome = execute(*cache.fs, cache.root, cache.plan(), cache.settings());
    ::close(held);
    REQUIRE(outcome.has_value());
    CHECK(outcome->units[2].state == UnitState::kSkipped);
    CHECK(std::filesystem::exists(cache.scratch / ("ab/" + kKernel + ".so")));
    CHECK(outcome->units[4].state == UnitState::kDone);
  }

  TEST_CASE("killed here and there on a real file system") {
    std::uint64_t calls = 0;
    {
      DiskCache cache;
      FaultFileSystem fs(*cache.fs);
      REQUIRE(execute(fs, cache.root, cache.plan(), cache.settings()).has_value());
      calls = fs.calls();
    }
    // Every call is tested in memory (faults_test.cpp); here each run waits for the disk.
    const std::uint64_t step = calls / 16;
    for (std::uint64_t number = step; number <= calls; number += step) {
      CAPTURE(number);
      DiskCache cache;
      const auto before = cache.files();
      const Plan plan = cache.plan();
      const int status = in_child([&] {
        FaultFileSystem fs(*cache.fs);
        fs.hook_at(number, [] { ::raise(SIGKILL); });
        static_cast<void>(execute(fs, cache.root, plan, cache.settings()));
        return 0;
      });
      CHECK(status == -SIGKILL);
      const auto recovery = recover(*cache.fs, cache.root, ::geteuid());
      REQUIRE(recovery.has_value());
      CHECK(recovery->problems.empty());
      const auto after = cache.files();
      for (const auto& [path, content] : before) {
        CAPTURE(path);
        const bool removable = path.starts_with("aotautograd/") || path.starts_with("ab/" + kKernel) ||
                               path.starts_with("triton/0/DIR/");
        std::size_t copies = 0;
        for (const auto& [name, copy] : after) {
          if ((name == path || name.ends_with("/files/" + path)) && copy == content) ++copies;
        }
        CHECK(copies <= 1);
        CHECK((copies == 1 || removable));
      }
      CHECK(after.contains("ab/" + kKernel + ".so") == after.contains("ab/" + kKernel + ".cpp"));
      CHECK(after.contains("triton/0/DIR/k.json") == after.contains("triton/0/DIR/tmp.pid_1/k.ttir"));
      for (const auto& [name, content] : after) {
        CHECK_FALSE(name.starts_with(".cachetool/journal/"));
        CHECK_FALSE(name.starts_with(".cachetool/trash/"));
      }
    }
  }

  TEST_CASE("a directory that may not be written fails by itself") {
    if (::geteuid() == 0) {
      MESSAGE("running as root, who may write everywhere: not checked");
      return;
    }
    DiskCache cache;
    const Plan plan = cache.plan();
    std::filesystem::permissions(cache.scratch / "fxgraph/ab/fkey",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto outcome = execute(*cache.fs, cache.root, plan, cache.settings());
    std::filesystem::permissions(cache.scratch / "fxgraph/ab/fkey", std::filesystem::perms::owner_all);
    REQUIRE(outcome.has_value());
    CHECK(outcome->units[1].state == UnitState::kFailed);
    CHECK(outcome->units[1].error->code == ErrorCode::kPermission);
    CHECK(outcome->units[2].state == UnitState::kDone);
  }
}
