#include "base/fault_file_system.h"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "base/memory_file_system.h"
#include "base/posix_file_system.h"
#include "unit/base/scratch_dir.h"

using namespace cachetool;

namespace {

Name name(std::string_view text) {
  return Name::parse(text).value();
}

struct Fixture {
  MemoryFileSystem memory;
  FaultFileSystem fs{memory};
  DirHandle root;
  Fixture() {
    memory.add_file("file", "0123456789");
    root = memory.open_root("/").value();
  }
};

const Error kBroken{ErrorCode::kIo, "the disk is gone", {}, {}, {}};

}  // namespace

TEST_SUITE("base/fault_file_system") {
  TEST_CASE("counts and logs what it passes on") {
    Fixture fixture;
    std::string buffer;
    REQUIRE(read_file(fixture.fs, *fixture.root, name("file"), 100, buffer).has_value());
    CHECK(buffer == "0123456789");
    CHECK(fixture.fs.calls() == 3);
    CHECK(fixture.fs.log() == std::vector<std::string>{"open_file file", "stat file", "read_at file"});
    TempFile temp = fixture.fs.create_temp(*fixture.root).value();
    REQUIRE(fixture.fs.write(*temp.file, "new").has_value());
    REQUIRE(fixture.fs.set_mode(*temp.file, 0644).has_value());
    REQUIRE(fixture.fs.set_times(*temp.file, 1, 2).has_value());
    REQUIRE(fixture.fs.sync(*temp.file).has_value());
    REQUIRE(
        fixture.fs.rename(*fixture.root, temp.name, *fixture.root, name("file"), Replace::kYes).has_value());
    CHECK(fixture.memory.contents("file") == "new");
    CHECK(fixture.fs.log().back() == "rename " + temp.name.str() + " file");
  }

  TEST_CASE("a chosen call fails once and has no effect") {
    Fixture fixture;
    fixture.fs.fail_at(2, kBroken);
    CHECK(fixture.fs.stat(*fixture.root, name("file")).has_value());
    const Status removed = fixture.fs.unlink(*fixture.root, name("file"));
    REQUIRE_FALSE(removed.has_value());
    CHECK(removed.error().message == "the disk is gone");
    CHECK(fixture.memory.exists("file"));
    CHECK(fixture.fs.unlink(*fixture.root, name("file")).has_value());
    CHECK_FALSE(fixture.memory.exists("file"));
  }

  TEST_CASE("each step of read_file can fail, and read_file says so") {
    for (std::uint64_t number = 1; number <= 3; ++number) {
      Fixture fixture;
      fixture.fs.fail_at(number, kBroken);
      std::string buffer;
      const auto stat = read_file(fixture.fs, *fixture.root, name("file"), 100, buffer);
      REQUIRE_FALSE(stat.has_value());
      CHECK(stat.error().code == ErrorCode::kIo);
    }
  }

  TEST_CASE("from a chosen call on everything fails") {
    Fixture fixture;
    fixture.fs.fail_from(2, kBroken);
    CHECK(fixture.fs.list(*fixture.root).has_value());
    CHECK_FALSE(fixture.fs.list(*fixture.root).has_value());
    CHECK_FALSE(fixture.fs.create_temp(*fixture.root).has_value());
    CHECK_FALSE(fixture.fs.open_root("/").has_value());
    CHECK_FALSE(fixture.fs.try_lock(*fixture.root, name("lock"), LockMode::kShared).has_value());
    CHECK_FALSE(fixture.memory.exists("lock"));
  }

  TEST_CASE("a hook changes the tree between two calls") {
    Fixture fixture;
    fixture.fs.hook_at(2, [&] { fixture.memory.remove("file"); });
    REQUIRE(fixture.fs.list(*fixture.root)->size() == 1);
    CHECK(fixture.fs.open_file(*fixture.root, name("file")).error().code == ErrorCode::kNotFound);
  }

  TEST_CASE("a hook ends the process at a chosen call") {
    const test::ScratchDir scratch;
    scratch.write("a", "");
    scratch.write("b", "");
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto posix = make_posix_file_system();
      FaultFileSystem fs(*posix);
      fs.hook_at(3, [] { ::_exit(42); });
      const DirHandle root = fs.open_root(scratch.path().string()).value();
      (void)fs.unlink(*root, name("a"));
      (void)fs.unlink(*root, name("b"));
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 42);
    CHECK_FALSE(std::filesystem::exists(scratch / "a"));
    CHECK(std::filesystem::exists(scratch / "b"));
  }

  TEST_CASE("a flipped bit shows in every read that covers it, and only there") {
    Fixture fixture;
    fixture.memory.add_file("other", "0123456789");
    fixture.fs.flip_bit("file", 4, 0);
    std::string buffer;
    REQUIRE(read_file(fixture.fs, *fixture.root, name("file"), 100, buffer).has_value());
    CHECK(buffer == "0123556789");
    REQUIRE(read_file(fixture.fs, *fixture.root, name("other"), 100, buffer).has_value());
    CHECK(buffer == "0123456789");
    const FileHandle file = fixture.fs.open_file(*fixture.root, name("file")).value();
    std::string piece(2, '\0');
    CHECK(fixture.fs.read_at(*file, 4, piece).value() == 2);
    CHECK(piece == "55");
    CHECK(fixture.fs.read_at(*file, 5, piece).value() == 2);
    CHECK(piece == "56");
    CHECK(fixture.memory.contents("file") == "0123456789");
  }

  TEST_CASE("short reads don't shorten what read_file gives") {
    Fixture fixture;
    fixture.fs.shorten_reads(3);
    std::string buffer;
    REQUIRE(read_file(fixture.fs, *fixture.root, name("file"), 100, buffer).has_value());
    CHECK(buffer == "0123456789");
    CHECK(fixture.fs.calls() == 2 + 4);
  }

  TEST_CASE("a file that shrinks or grows between its stat and the read") {
    for (const char* now : {"0123", "0123456789abcdef"}) {
      const test::ScratchDir scratch;
      scratch.write("file", "0123456789");
      const auto posix = make_posix_file_system();
      FaultFileSystem fs(*posix);
      fs.hook_at(4, [&] { scratch.write("file", now); });
      const DirHandle root = fs.open_root(scratch.path().string()).value();
      std::string buffer;
      const auto stat = read_file(fs, *root, name("file"), 100, buffer);
      REQUIRE(stat.has_value());
      CHECK(stat->size == 10);
      CHECK(buffer == std::string_view(now).substr(0, 10));
    }
  }

  TEST_CASE("its own clock") {
    Fixture fixture;
    fixture.memory.set_now(5);
    CHECK(fixture.fs.now() == 5);
    fixture.fs.set_now(77);
    CHECK(fixture.fs.now() == 77);
    CHECK(fixture.fs.calls() == 0);
  }
}
