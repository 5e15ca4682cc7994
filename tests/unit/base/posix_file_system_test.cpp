#include "base/posix_file_system.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "unit/base/scratch_dir.h"

using namespace cachetool;
using cachetool::test::ScratchDir;

namespace {

Name name(std::string_view text) {
  return Name::parse(text).value();
}

}  // namespace

TEST_SUITE("base/posix_file_system") {
  TEST_CASE("a file that may not be read") {
    const ScratchDir scratch;
    scratch.write("secret", "x");
    scratch.write("closed/file", "x");
    std::filesystem::permissions(scratch / "secret", std::filesystem::perms::none);
    std::filesystem::permissions(scratch / "closed", std::filesystem::perms::none);
    const auto fs = make_posix_file_system();
    const DirHandle root = fs->open_root(scratch.path().string()).value();
    CHECK(fs->stat(*root, name("secret"))->mode == 0);
    if (::geteuid() == 0) {
      MESSAGE("running as root, to whom every file is readable: not checked that reading is refused");
    } else {
      const auto file = fs->open_file(*root, name("secret"));
      REQUIRE_FALSE(file.has_value());
      CHECK(file.error().code == ErrorCode::kPermission);
      CHECK(file.error().message == "cannot open: Permission denied");
      CHECK(fs->open_dir(*root, name("closed")).error().code == ErrorCode::kPermission);
      CHECK(fs->open_root((scratch / "closed").string()).error().code == ErrorCode::kPermission);
    }
    std::filesystem::permissions(scratch / "closed", std::filesystem::perms::owner_all);
  }

  TEST_CASE("sockets and devices") {
    const ScratchDir scratch;
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (scratch / "socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    const auto fs = make_posix_file_system();
    const auto socket = fs->open_file(*fs->open_root(scratch.path().string()).value(), name("socket"));
    REQUIRE_FALSE(socket.has_value());
    CHECK(socket.error().code == ErrorCode::kNotRegular);
    CHECK(socket.error().message == "is a socket, not a regular file");
    ::close(fd);
    const auto device = fs->open_file(*fs->open_root("/dev").value(), name("null"));
    REQUIRE_FALSE(device.has_value());
    CHECK(device.error().code == ErrorCode::kNotRegular);
    CHECK(device.error().message == "is a device, not a regular file");
  }

  TEST_CASE("a mount point below the root is not entered") {
    const auto fs = make_posix_file_system();
    const DirHandle root = fs->open_root("/").value();
    const auto proc = fs->stat(*root, name("proc"));
    if (!proc || proc->device == fs->stat(*root)->device) {
      MESSAGE("/proc is no mount point here: not checked that it is not entered");
      return;
    }
    const auto opened = fs->open_dir(*root, name("proc"));
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == ErrorCode::kMountPoint);
    CHECK(fs->open_root("/proc").has_value());
  }

  TEST_CASE("reading leaves the access time alone") {
    const ScratchDir scratch;
    scratch.write("file", "x");
    const std::array<timespec, 2> long_ago = {timespec{1000, 5}, timespec{2000, 7}};
    REQUIRE(::utimensat(AT_FDCWD, (scratch / "file").c_str(), long_ago.data(), 0) == 0);
    const auto fs = make_posix_file_system();
    const DirHandle root = fs->open_root(scratch.path().string()).value();
    std::string buffer;
    REQUIRE(read_file(*fs, *root, name("file"), 10, buffer).has_value());
    CHECK(fs->stat(*root, name("file"))->atime_ns == 1'000'000'000'005);
    CHECK(fs->stat(*root, name("file"))->mtime_ns == 2'000'000'000'007);
  }

  TEST_CASE("a directory of many names is listed whole, also by several threads at once") {
    const ScratchDir scratch;
    constexpr std::size_t kCount = 2000;  // more than one block of entries
    for (std::size_t i = 0; i < kCount; ++i) scratch.write(std::to_string(i) + std::string(40, 'n'), "");
    const auto fs = make_posix_file_system();
    const DirHandle root = fs->open_root(scratch.path().string()).value();
    std::atomic<int> whole = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          if (fs->list(*root).value().size() == kCount) ++whole;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(whole == 20);
  }

  TEST_CASE("a file is read by several threads through one handle") {
    const ScratchDir scratch;
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::to_string(i) + ",";
    scratch.write("file", text);
    const auto fs = make_posix_file_system();
    const FileHandle file =
        fs->open_file(*fs->open_root(scratch.path().string()).value(), name("file")).value();
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (std::size_t start = 0; start < 4; ++start) {
      threads.emplace_back([&, start] {
        std::string piece(100, '\0');
        for (std::size_t offset = start; offset + piece.size() < text.size(); offset += 400) {
          if (fs->read_at(*file, offset, piece) && text.compare(offset, piece.size(), piece) != 0) return;
        }
        ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 4);
  }

  TEST_CASE("a directory that goes away while it is open") {
    const ScratchDir scratch;
    std::filesystem::create_directory(scratch / "dir");
    const auto fs = make_posix_file_system();
    const DirHandle dir = fs->open_root((scratch / "dir").string()).value();
    std::filesystem::remove(scratch / "dir");
    CHECK(fs->open_file(*dir, name("x")).error().code == ErrorCode::kNotFound);
    CHECK(fs->create_temp(*dir).error().code == ErrorCode::kNotFound);
    const auto listed = fs->list(*dir);
    CHECK((!listed || listed->empty()));
  }

  TEST_CASE("no descriptor is left open, and none is inherited") {
    const ScratchDir scratch;
    scratch.write("file", "x");
    scratch.write("lock", "");
    const auto fs = make_posix_file_system();
    const auto open_descriptors = [&] {
      return fs->list(*fs->open_root("/proc/self/fd").value()).value().size();
    };
    const std::size_t before = open_descriptors();
    {
      const DirHandle root = fs->open_root(scratch.path().string()).value();
      const auto lock = fs->try_lock(*root, name("lock"), LockMode::kShared);
      const FileHandle file = fs->open_file(*root, name("file")).value();
      CHECK(open_descriptors() == before + 3);
      CHECK_FALSE(fs->open_dir(*root, name("file")).has_value());
      CHECK_FALSE(fs->try_lock(*root, name("lock"), LockMode::kExclusive).has_value());
      CHECK(fs->list(*root).has_value());
      CHECK(fs->list(*root).has_value());
      CHECK(open_descriptors() == before + 3);
    }
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("the limit counts the apparent size of a sparse file") {
    const ScratchDir scratch;
    scratch.write("sparse", "");
    constexpr std::uint64_t kSize = std::uint64_t{1} << 43;
    if (::truncate((scratch / "sparse").c_str(), static_cast<off_t>(kSize)) != 0)
      return;  // no sparse files here
    const auto fs = make_posix_file_system();
    const DirHandle root = fs->open_root(scratch.path().string()).value();
    const FileStat stat = fs->stat(*root, name("sparse")).value();
    CHECK(stat.size == kSize);
    CHECK(stat.allocated_bytes < 1 << 20);
    std::string buffer;
    CHECK(read_file(*fs, *root, name("sparse"), kSize - 1, buffer).error().code == ErrorCode::kLimitSize);
  }
}
