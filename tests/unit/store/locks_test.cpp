#include "store/locks.h"

#include <doctest/doctest.h>

#include "base/memory_file_system.h"

using namespace cachetool;
using namespace cachetool::store;

TEST_SUITE("store/locks") {
  TEST_CASE("a lock is held as long as somebody has it, and asking changes nothing") {
    MemoryFileSystem fs;
    fs.add_file("/locks/a.lock", "");
    const auto directory = fs.open_root("/locks");
    REQUIRE(directory);
    const Name name = *Name::parse("a.lock");
    CHECK(lock_state(fs, **directory, name) == LockState::kFree);
    {
      const auto held = fs.try_lock(**directory, name, LockMode::kExclusive);
      REQUIRE(held);
      CHECK(lock_state(fs, **directory, name) == LockState::kHeld);
    }
    CHECK(lock_state(fs, **directory, name) == LockState::kFree);
    CHECK(fs.try_lock(**directory, name, LockMode::kExclusive));
  }

  TEST_CASE("no lock file is made by asking for one") {
    MemoryFileSystem fs;
    fs.add_dir("/locks");
    fs.add_symlink("/locks/link.lock", "/etc/passwd");
    const auto directory = fs.open_root("/locks");
    REQUIRE(directory);
    CHECK(lock_state(fs, **directory, *Name::parse("b.lock")) == LockState::kUnknown);
    CHECK_FALSE(fs.exists("/locks/b.lock"));
    CHECK(lock_state(fs, **directory, *Name::parse("link.lock")) == LockState::kUnknown);
  }
}
