#include "base/memory_file_system.h"

#include <doctest/doctest.h>

using namespace cachetool;

namespace {

Name name(std::string_view text) {
  return Name::parse(text).value();
}

}  // namespace

TEST_SUITE("base/memory_file_system") {
  TEST_CASE("the clock stands still until it is moved, and stamps what changes") {
    MemoryFileSystem fs;
    fs.set_now(100);
    fs.add_file("dir/file", "x");
    fs.set_now(200);
    CHECK(fs.now() == 200);
    const DirHandle dir = fs.open_root("/dir").value();
    CHECK(fs.stat(*dir, name("file"))->mtime_ns == 100);
    TempFile temp = fs.create_temp(*dir).value();
    CHECK(fs.stat(*dir)->mtime_ns == 200);
    fs.set_now(300);
    REQUIRE(fs.write(*temp.file, "y").has_value());
    CHECK(fs.stat(*temp.file)->mtime_ns == 300);
    fs.change_stat("dir/file", [](FileStat& stat) {
      stat.mtime_ns = 7;
      stat.uid = 1234;
      stat.size = 99;
      stat.type = FileType::kSocket;
    });
    const FileStat stat = fs.stat(*dir, name("file")).value();
    CHECK(stat.mtime_ns == 7);
    CHECK(stat.uid == 1234);
    CHECK(stat.size == 1);
    CHECK(stat.type == FileType::kRegular);
  }

  TEST_CASE("errors that a test sets") {
    MemoryFileSystem fs;
    fs.add_file("dir/secret", "x");
    const DirHandle root = fs.open_root("/").value();
    const DirHandle dir = fs.open_root("dir").value();
    fs.set_error("dir/secret", ErrorCode::kPermission);
    const auto file = fs.open_file(*dir, name("secret"));
    REQUIRE_FALSE(file.has_value());
    CHECK(file.error().code == ErrorCode::kPermission);
    CHECK(file.error().message == "cannot open: Permission denied");
    CHECK(fs.stat(*dir, name("secret")).has_value());
    fs.set_error("dir", ErrorCode::kIo);
    CHECK(fs.list(*dir).error().code == ErrorCode::kIo);
    CHECK(fs.open_dir(*root, name("dir")).error().code == ErrorCode::kIo);
    CHECK(fs.open_root("dir").error().code == ErrorCode::kIo);
    CHECK(fs.create_temp(*dir).error().code == ErrorCode::kIo);
    CHECK(fs.unlink(*dir, name("secret")).error().code == ErrorCode::kIo);
    fs.set_error("dir", std::nullopt);
    CHECK(fs.unlink(*dir, name("secret")).has_value());
    CHECK_FALSE(fs.exists("dir/secret"));
  }

  TEST_CASE("devices") {
    MemoryFileSystem fs;
    fs.add_file("cache/mount/file", "x");
    fs.add_file("cache/file", "x");
    fs.set_device("cache/mount", 42);
    const DirHandle cache = fs.open_root("/cache").value();
    CHECK(fs.open_dir(*cache, name("mount")).error().code == ErrorCode::kMountPoint);
    CHECK(fs.stat(*cache, name("mount"))->device == 42);
    const DirHandle mount = fs.open_root("/cache/mount").value();
    CHECK(fs.open_file(*mount, name("file")).has_value());
    CHECK(fs.rename(*cache, name("file"), *mount, name("moved"), Replace::kYes).error().code ==
          ErrorCode::kMountPoint);
    fs.add_file("cache/mount/later", "");
    CHECK(fs.stat(*mount, name("later"))->device == 42);
  }

  TEST_CASE("a root is found through absolute, relative and nested links") {
    MemoryFileSystem fs;
    fs.add_file("data/real/file", "x");
    fs.add_symlink("home/absolute", "/data/real");
    fs.add_symlink("home/relative", "../data/./real");
    fs.add_symlink("home/nested", "absolute/../real");
    fs.add_symlink("home/dangling", "nowhere");
    fs.add_symlink("home/loop", "loop");
    for (const char* path : {"/home/absolute", "home/relative", "/home/nested", "/home//absolute/"}) {
      CAPTURE(path);
      const auto root = fs.open_root(path);
      REQUIRE(root.has_value());
      CHECK(fs.stat(**root, name("file")).has_value());
    }
    CHECK(fs.open_root("/home/dangling").error().code == ErrorCode::kNotFound);
    CHECK(fs.open_root("/home/loop").error().code == ErrorCode::kNotRegular);
    CHECK(fs.open_root("/data/real/file/x").error().code == ErrorCode::kNotRegular);
  }

  TEST_CASE("looking at the tree from outside") {
    MemoryFileSystem fs;
    fs.add_file("a/b", "one");
    fs.add_file("a/b", "two");
    fs.add_dir("a");
    CHECK(fs.contents("/a/b") == "two");
    CHECK(fs.contents("a") == std::nullopt);
    CHECK(fs.contents("a/c") == std::nullopt);
    const FileHandle file = fs.open_file(*fs.open_root("a").value(), name("b")).value();
    fs.remove("a");
    CHECK_FALSE(fs.exists("a/b"));
    std::string buffer(3, '\0');
    CHECK(fs.read_at(*file, 0, buffer).value() == 3);
    fs.set_free_space({5, 10, 1});
    CHECK(fs.free_space(*fs.open_root("/").value())->free_bytes == 5);
  }

  TEST_CASE("a lock may outlive its file system") {
    std::unique_ptr<Lock> lock;
    {
      MemoryFileSystem fs;
      lock = fs.try_lock(*fs.open_root("/").value(), name("lock"), LockMode::kExclusive).value();
    }
    lock.reset();
  }
}
