// One suite for both file systems: what a caller may rely on whichever is underneath.
#include "base/file_system.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/posix_file_system.h"
#include "unit/base/scratch_dir.h"

using namespace cachetool;

namespace {

/// A tree to test on, and a way to put things there that the interface can't make.
struct PosixWorld {
  test::ScratchDir scratch;
  std::unique_ptr<FileSystem> fs = make_posix_file_system();
  std::string root() const { return scratch.path().string(); }
  void file(std::string_view path, std::string_view bytes) { scratch.write(path, bytes); }
  void dir(std::string_view path) { std::filesystem::create_directories(scratch / path); }
  void symlink(std::string_view path, std::string_view target) {
    std::filesystem::create_symlink(target, scratch / path);
  }
  void fifo(std::string_view path) { REQUIRE(::mkfifo((scratch / path).c_str(), 0644) == 0); }
  void hard_link(std::string_view path, std::string_view existing) {
    std::filesystem::create_hard_link(scratch / existing, scratch / path);
  }
};

struct MemoryWorld {
  MemoryFileSystem memory;
  FileSystem* fs = &memory;
  MemoryWorld() { memory.add_dir("root"); }
  std::string root() const { return "/root"; }
  std::string at(std::string_view path) const { return "root/" + std::string(path); }
  void file(std::string_view path, std::string_view bytes) { memory.add_file(at(path), bytes); }
  void dir(std::string_view path) { memory.add_dir(at(path)); }
  void symlink(std::string_view path, std::string_view target) { memory.add_symlink(at(path), target); }
  void fifo(std::string_view path) { memory.add_special(at(path), FileType::kFifo); }
  void hard_link(std::string_view path, std::string_view existing) {
    memory.add_hard_link(at(path), at(existing));
  }
};

Name name(std::string_view text) {
  return Name::parse(text).value();
}

std::vector<std::string> names(FileSystem& fs, const Directory& dir) {
  const std::vector<DirEntry> entries = fs.list(dir).value();
  std::vector<std::string> found;
  for (const DirEntry& entry : entries) found.push_back(entry.name.str());
  return found;
}

std::string contents(FileSystem& fs, const Directory& dir, std::string_view file) {
  std::string buffer;
  const auto stat = read_file(fs, dir, name(file), 1 << 20, buffer);
  return stat ? buffer : "error: " + stat.error().message;
}

template <class T>
ErrorCode code(const Expected<T>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK_FALSE(result.error().message.empty());
  return result.error().code;
}

}  // namespace

TEST_SUITE("base/file_system") {
  TEST_CASE("names") {
    for (const char* text : {"a", "...", "a b", ".x", "\xff\xfe", "\n", "-rf"}) {
      CAPTURE(text);
      CHECK(Name::parse(text).value().str() == text);
    }
    CHECK(Name::parse(std::string(255, 'n')).has_value());
    for (const std::string& text : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                    std::string("/"), std::string("a\0b", 3), std::string(256, 'n')}) {
      CHECK(code(Name::parse(text)) == ErrorCode::kUsage);
    }
  }

  TEST_CASE_TEMPLATE("a directory is listed sorted, with types and inodes", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("b", "1");
    world.dir("a");
    world.symlink("d", "b");
    world.fifo("c");
    world.file("\xff\xfe not utf-8", "");
    world.file(".hidden", "");
    const DirHandle root = world.fs->open_root(world.root()).value();
    for (int round = 0; round < 2; ++round) {
      const auto entries = world.fs->list(*root).value();
      REQUIRE(entries.size() == 6);
      CHECK(names(*world.fs, *root) ==
            std::vector<std::string>{".hidden", "a", "b", "c", "d", "\xff\xfe not utf-8"});
      CHECK(entries[1].type == FileType::kDirectory);
      CHECK(entries[2].type == FileType::kRegular);
      CHECK(entries[3].type == FileType::kFifo);
      CHECK(entries[4].type == FileType::kSymlink);
      CHECK(entries[2].inode == world.fs->stat(*root, name("b"))->inode);
    }
    world.file("e", "");
    CHECK(names(*world.fs, *root).size() == 7);
  }

  TEST_CASE_TEMPLATE("a root is opened through links, everything below it is not", World, PosixWorld,
                     MemoryWorld) {
    World world;
    world.file("real/file", "x");
    world.symlink("link", "real");
    world.symlink("real/to_file", "file");
    world.symlink("real/loop", "loop");
    const DirHandle root = world.fs->open_root(world.root() + "/link").value();
    CHECK(contents(*world.fs, *root, "file") == "x");
    const DirHandle top = world.fs->open_root(world.root()).value();
    const auto dir = world.fs->open_dir(*top, name("link"));
    CHECK(code(dir) == ErrorCode::kNotRegular);
    CHECK(dir.error().message == "is a symbolic link, not a directory");
    CHECK(dir.error().path == "link");
    for (const char* link : {"to_file", "loop"}) {
      const auto file = world.fs->open_file(*root, name(link));
      CHECK(code(file) == ErrorCode::kNotRegular);
      CHECK(file.error().message == "is a symbolic link, not a regular file");
      CHECK(world.fs->stat(*root, name(link))->type == FileType::kSymlink);
      CHECK(code(world.fs->try_lock(*root, name(link), LockMode::kShared)) == ErrorCode::kNotRegular);
    }
    CHECK(world.fs->read_link(*root, name("to_file")).value() == "file");
    CHECK_FALSE(world.fs->read_link(*root, name("file")).has_value());
    CHECK(code(world.fs->open_root(world.root() + "/real/loop")) == ErrorCode::kNotRegular);
  }

  TEST_CASE_TEMPLATE("what can't be opened says why", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("file", "x");
    world.dir("dir");
    world.fifo("fifo");
    const DirHandle root = world.fs->open_root(world.root()).value();
    CHECK(code(world.fs->open_root(world.root() + "/missing")) == ErrorCode::kNotFound);
    CHECK(code(world.fs->open_root(world.root() + "/file")) == ErrorCode::kNotRegular);
    CHECK(code(world.fs->open_file(*root, name("missing"))) == ErrorCode::kNotFound);
    CHECK(code(world.fs->open_dir(*root, name("missing"))) == ErrorCode::kNotFound);
    CHECK(code(world.fs->stat(*root, name("missing"))) == ErrorCode::kNotFound);
    const auto fifo = world.fs->open_file(*root, name("fifo"));  // would wait for a writer
    CHECK(code(fifo) == ErrorCode::kNotRegular);
    CHECK(fifo.error().message == "is a FIFO, not a regular file");
    const auto file = world.fs->open_dir(*root, name("file"));
    CHECK(code(file) == ErrorCode::kNotRegular);
    CHECK(file.error().message == "is a regular file, not a directory");
    CHECK(code(world.fs->open_file(*root, name("dir"))) == ErrorCode::kNotRegular);
    CHECK(code(world.fs->open_dir(*root, name("fifo"))) == ErrorCode::kNotRegular);
  }

  TEST_CASE_TEMPLATE("status of files and directories", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("file", "12345");
    world.hard_link("second", "file");
    const DirHandle root = world.fs->open_root(world.root()).value();
    const FileStat stat = world.fs->stat(*root, name("file")).value();
    CHECK(stat.type == FileType::kRegular);
    CHECK(stat.size == 5);
    CHECK(stat.links == 2);
    CHECK(stat.allocated_bytes % 512 == 0);
    CHECK(stat.mode == 0644);
    CHECK(stat.inode == world.fs->stat(*root, name("second"))->inode);
    CHECK(stat.device == world.fs->stat(*root)->device);
    CHECK(world.fs->stat(*root)->type == FileType::kDirectory);
    const FileHandle file = world.fs->open_file(*root, name("file")).value();
    CHECK(world.fs->stat(*file)->inode == stat.inode);
    CHECK(std::abs(stat.mtime_ns - world.fs->now()) < std::int64_t{60} * 1'000'000'000);
  }

  TEST_CASE_TEMPLATE("reading at an offset", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("file", "0123456789");
    const DirHandle root = world.fs->open_root(world.root()).value();
    const FileHandle file = world.fs->open_file(*root, name("file")).value();
    std::string buffer(4, '\0');
    CHECK(world.fs->read_at(*file, 3, buffer).value() == 4);
    CHECK(buffer == "3456");
    CHECK(world.fs->read_at(*file, 8, buffer).value() == 2);
    CHECK(world.fs->read_at(*file, 10, buffer).value() == 0);
    CHECK(world.fs->read_at(*file, 1000, buffer).value() == 0);
    CHECK_FALSE(world.fs->write(*file, "x").has_value());
  }

  TEST_CASE_TEMPLATE("a temporary is written, changed and renamed into place", World, PosixWorld,
                     MemoryWorld) {
    World world;
    world.file("old", "old");
    const DirHandle root = world.fs->open_root(world.root()).value();
    TempFile temp = world.fs->create_temp(*root).value();
    const TempFile other = world.fs->create_temp(*root).value();
    CHECK(temp.name != other.name);
    CHECK(temp.name.str().starts_with(".cachetool."));
    CHECK(temp.name.str().ends_with(".tmp"));
    CHECK(world.fs->stat(*temp.file)->mode == 0600);
    CHECK(world.fs->write(*temp.file, "ab").has_value());
    CHECK(world.fs->write(*temp.file, "").has_value());
    CHECK(world.fs->write(*temp.file, "cd").has_value());
    CHECK(world.fs->set_mode(*temp.file, 0640).has_value());
    CHECK(world.fs->set_times(*temp.file, 1'500'000'000, -1).has_value());
    CHECK(world.fs->sync(*temp.file).has_value());
    CHECK(world.fs->sync(*root).has_value());

    CHECK(code(world.fs->rename(*root, temp.name, *root, name("old"), Replace::kNo)) == ErrorCode::kExists);
    CHECK(contents(*world.fs, *root, "old") == "old");
    CHECK(world.fs->rename(*root, temp.name, *root, name("new"), Replace::kNo).has_value());
    CHECK(contents(*world.fs, *root, "new") == "abcd");
    CHECK(world.fs->rename(*root, name("new"), *root, name("old"), Replace::kYes).has_value());
    CHECK(contents(*world.fs, *root, "old") == "abcd");
    const FileStat stat = world.fs->stat(*root, name("old")).value();
    CHECK(stat.mode == 0640);
    CHECK(stat.mtime_ns == -1);
    CHECK(code(world.fs->rename(*root, name("new"), *root, name("x"), Replace::kYes)) ==
          ErrorCode::kNotFound);
  }

  TEST_CASE_TEMPLATE("renames between directories and of directories", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("a/file", "x");
    world.file("full/file", "y");
    world.dir("empty");
    const DirHandle root = world.fs->open_root(world.root()).value();
    const DirHandle a = world.fs->open_dir(*root, name("a")).value();
    CHECK(world.fs->rename(*a, name("file"), *root, name("moved"), Replace::kNo).has_value());
    CHECK(names(*world.fs, *a).empty());
    CHECK(contents(*world.fs, *root, "moved") == "x");
    CHECK(code(world.fs->rename(*root, name("a"), *root, name("full"), Replace::kYes)) == ErrorCode::kExists);
    CHECK(code(world.fs->rename(*root, name("a"), *root, name("moved"), Replace::kYes)) ==
          ErrorCode::kNotRegular);
    CHECK(code(world.fs->rename(*root, name("moved"), *root, name("a"), Replace::kYes)) ==
          ErrorCode::kNotRegular);
    CHECK(world.fs->rename(*root, name("a"), *root, name("empty"), Replace::kYes).has_value());
    CHECK(names(*world.fs, *root) == std::vector<std::string>{"empty", "full", "moved"});
    CHECK_FALSE(world.fs->rename(*root, name("full"), *world.fs->open_dir(*root, name("full")).value(),
                                 name("in"), Replace::kYes));
  }

  TEST_CASE_TEMPLATE("making and removing", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("file", "x");
    const DirHandle root = world.fs->open_root(world.root()).value();
    const DirHandle dir = world.fs->make_dir(*root, name("dir"), 0700).value();
    CHECK(world.fs->stat(*dir)->mode == 0700);
    CHECK(code(world.fs->make_dir(*root, name("dir"), 0700)) == ErrorCode::kExists);
    const TempFile temp = world.fs->create_temp(*dir).value();
    CHECK(code(world.fs->remove_dir(*root, name("dir"))) == ErrorCode::kExists);
    CHECK(code(world.fs->unlink(*root, name("dir"))) == ErrorCode::kNotRegular);
    CHECK(world.fs->unlink(*dir, temp.name).has_value());
    CHECK(code(world.fs->unlink(*dir, temp.name)) == ErrorCode::kNotFound);
    CHECK(world.fs->remove_dir(*root, name("dir")).has_value());
    CHECK(code(world.fs->remove_dir(*root, name("file"))) == ErrorCode::kNotRegular);

    const FileHandle open = world.fs->open_file(*root, name("file")).value();
    CHECK(world.fs->unlink(*root, name("file")).has_value());
    CHECK(names(*world.fs, *root).empty());
    std::string buffer(1, '\0');
    CHECK(world.fs->read_at(*open, 0, buffer).value() == 1);
    CHECK(world.fs->stat(*open)->links == 0);
  }

  TEST_CASE_TEMPLATE("locks", World, PosixWorld, MemoryWorld) {
    World world;
    const DirHandle root = world.fs->open_root(world.root()).value();
    CHECK(code(world.fs->try_lock(*root, name("lock"), LockMode::kShared)) == ErrorCode::kNotFound);
    CHECK(code(world.fs->stat(*root, name("lock"))) == ErrorCode::kNotFound);
    auto exclusive = world.fs->try_lock(*root, name("lock"), LockMode::kExclusive);
    REQUIRE(exclusive.has_value());
    CHECK(names(*world.fs, *root) == std::vector<std::string>{"lock"});
    CHECK(code(world.fs->try_lock(*root, name("lock"), LockMode::kExclusive)) == ErrorCode::kLocked);
    CHECK(code(world.fs->try_lock(*root, name("lock"), LockMode::kShared)) == ErrorCode::kLocked);
    exclusive->reset();
    auto shared = world.fs->try_lock(*root, name("lock"), LockMode::kShared);
    CHECK(shared.has_value());
    CHECK(world.fs->try_lock(*root, name("lock"), LockMode::kShared).has_value());
    CHECK(code(world.fs->try_lock(*root, name("lock"), LockMode::kExclusive)) == ErrorCode::kLocked);
    shared->reset();
    CHECK(world.fs->try_lock(*root, name("lock"), LockMode::kExclusive).has_value());
    CHECK(names(*world.fs, *root) == std::vector<std::string>{"lock"});
    world.dir("dir");
    CHECK(code(world.fs->try_lock(*root, name("dir"), LockMode::kShared)) == ErrorCode::kNotRegular);
  }

  TEST_CASE_TEMPLATE("space", World, PosixWorld, MemoryWorld) {
    World world;
    const SpaceInfo space = world.fs->free_space(*world.fs->open_root(world.root()).value()).value();
    CHECK(space.total_bytes > 0);
    CHECK(space.free_bytes <= space.total_bytes);
  }

  TEST_CASE_TEMPLATE("read_file", World, PosixWorld, MemoryWorld) {
    World world;
    world.file("small", "tiny");
    world.file("empty", "");
    world.file("large", std::string(5 << 20, 'L'));
    const DirHandle root = world.fs->open_root(world.root()).value();
    std::string buffer = "left over from before";
    CHECK(read_file(*world.fs, *root, name("small"), 4, buffer)->size == 4);
    CHECK(buffer == "tiny");
    CHECK(read_file(*world.fs, *root, name("large"), ~std::uint64_t{0}, buffer).has_value());
    CHECK(buffer == std::string(5 << 20, 'L'));
    CHECK(read_file(*world.fs, *root, name("small"), 4, buffer).has_value());
    CHECK(buffer == "tiny");
    CHECK(buffer.capacity() <= std::size_t{4} << 20);
    const auto too_large = read_file(*world.fs, *root, name("small"), 3, buffer);
    CHECK(code(too_large) == ErrorCode::kLimitSize);
    CHECK(too_large.error().path == "small");
    CHECK(read_file(*world.fs, *root, name("empty"), 0, buffer).has_value());
    CHECK(buffer.empty());
    CHECK(code(read_file(*world.fs, *root, name("missing"), 1, buffer)) == ErrorCode::kNotFound);
  }
}
