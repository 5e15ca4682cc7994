#include "container/elf.h"

#include <string>

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::container;

namespace {

void put(std::string& file, std::size_t at, std::uint64_t value, int bytes) {
  if (file.size() < at + static_cast<std::size_t>(bytes))
    file.resize(at + static_cast<std::size_t>(bytes), '\0');
  for (int i = 0; i < bytes; ++i)
    file[at + static_cast<std::size_t>(i)] = static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string header(std::uint16_t machine, std::uint32_t flags, std::uint8_t abi) {
  std::string file(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  put(file, 8, abi, 1);
  put(file, 16, 3, 2);
  put(file, 18, machine, 2);
  put(file, 48, flags, 4);
  put(file, 54, 56, 2);
  put(file, 58, 64, 2);
  put(file, 62, 0, 2);
  return file;
}

void section(std::string& file, std::size_t at, std::uint32_t type, std::uint64_t offset, std::uint64_t size,
             std::uint32_t link) {
  put(file, at + 4, type, 4);
  put(file, at + 24, offset, 8);
  put(file, at + 32, size, 8);
  put(file, at + 40, link, 4);
  put(file, at + 56, 0, 8);
}

/// A shared object with two symbols (kernel defined, printf not), soname and one dependency.
std::string shared_object() {
  std::string file = header(kMachineX86_64, 0, 0);
  const std::string strings("\0kernel\0printf\0libx.so\0libc.so.6\0", 33);
  file.resize(64);
  file += strings;  // 64..97
  const std::size_t symbols = 104;
  put(file, symbols + 24, 1, 4);
  put(file, symbols + 28, 0x12, 1);
  put(file, symbols + 30, 5, 2);
  put(file, symbols + 48, 8, 4);
  put(file, symbols + 52, 0x12, 1);
  put(file, symbols + 71, 0, 1);
  const std::size_t dynamic = symbols + 72;
  put(file, dynamic, 14, 8);
  put(file, dynamic + 8, 15, 8);
  put(file, dynamic + 16, 1, 8);
  put(file, dynamic + 24, 23, 8);
  put(file, dynamic + 32, 0, 8);
  put(file, dynamic + 40, 0, 8);
  const std::size_t table = dynamic + 48;
  section(file, table, 0, 0, 0, 0);
  section(file, table + 64, 3, 64, strings.size(), 0);
  section(file, table + 128, 11, symbols, 72, 1);
  section(file, table + 192, 6, dynamic, 48, 1);
  put(file, 40, table, 8);
  put(file, 60, 4, 2);
  return file;
}

}  // namespace

TEST_SUITE("container/elf") {
  TEST_CASE("symbols and dependencies of a shared object") {
    const std::string file = shared_object();
    const auto elf = read_elf(file);
    REQUIRE(elf);
    CHECK(elf->whole);
    CHECK(elf->expected_size == file.size());
    CHECK(elf->header.type == 3);
    CHECK(elf->soname == "libx.so");
    REQUIRE(elf->needed.size() == 1);
    CHECK(elf->needed[0] == "libc.so.6");
    CHECK(elf->exports("kernel"));
    CHECK_FALSE(elf->exports("printf"));
    REQUIRE(elf->undefined.size() == 1);
    CHECK(elf->undefined[0] == "printf");
  }

  TEST_CASE("a file cut anywhere behind its header isn't whole, and no error") {
    const std::string file = shared_object();
    for (std::size_t length = 64; length < file.size(); ++length) {
      const auto elf = read_elf(std::string_view(file).substr(0, length));
      REQUIRE(elf);
      CHECK_FALSE(elf->whole);
      CHECK(elf->expected_size > length);
    }
    for (std::size_t length = 0; length < 64; ++length) {
      CHECK(read_elf(std::string_view(file).substr(0, length)).error().code == ErrorCode::kTruncated);
    }
  }

  TEST_CASE("architecture of cubins in both layouts of the flags") {
    CHECK(read_elf_header(header(kMachineCuda, 0x5a0d5a, 7))->cuda_architecture() == 90u);
    CHECK(read_elf_header(header(kMachineCuda, 0x9005a04, 8))->cuda_architecture() == 90u);
    CHECK(read_elf_header(header(kMachineCuda, 0x500550, 7))->cuda_architecture() == 80u);
    CHECK_FALSE(read_elf_header(header(kMachineX86_64, 0, 0))->cuda_architecture());
  }

  TEST_CASE("other files") {
    CHECK(read_elf(std::string(100, 'x')).error().code == ErrorCode::kMalformed);
    std::string narrow = header(kMachineX86_64, 0, 0);
    narrow[4] = 1;
    CHECK(read_elf(narrow).error().code == ErrorCode::kUnsupported);
    CHECK_FALSE(
        looks_like_elf("\x7f"
                       "EL"));
  }

  TEST_CASE("tables that lie stay inside the file") {
    std::string file = shared_object();
    put(file, 40, UINT64_MAX - 10, 8);
    const auto far = read_elf(file);
    REQUIRE(far);
    CHECK_FALSE(far->whole);
    file = shared_object();
    put(file, 104 + 24, 5000, 4);  // a symbol's name
    CHECK(read_elf(file).error().code == ErrorCode::kMalformed);
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
      std::string other = shared_object();
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      const auto elf = read_elf(other);
      if (elf) CHECK(elf->exported.size() <= 3);
    }
  }
}
