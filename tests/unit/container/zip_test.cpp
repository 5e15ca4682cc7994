#include "container/zip.h"

#include <string>

#include <doctest/doctest.h>

#include "container/frame.h"

using namespace cachetool;
using namespace cachetool::container;

namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  return text;
}

struct Member {
  std::string name;
  std::string data;
};

/// A stored archive as torch writes one.
std::string archive(const std::vector<Member>& members) {
  std::string file;
  std::string directory;
  for (const auto& [name, data] : members) {
    const std::string sizes = little(crc32(data), 4) + little(data.size(), 4) + little(data.size(), 4);
    const std::string common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) +
                               sizes + little(name.size(), 2) + little(0, 2);
    const std::size_t offset = file.size();
    file += "PK\x03\x04" + common + name + data;
    directory += "PK\x01\x02" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) +
                 little(0, 4) + little(offset, 4) + name;
  }
  const std::size_t start = file.size();
  return file + directory + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(start, 4) + little(0, 2);
}

}  // namespace

TEST_SUITE("container/zip") {
  TEST_CASE("members of a package with their place") {
    const std::string file =
        archive({{"model/archive_format", "pt2"}, {"model/version", ""}, {"model/x.so", "binary"}});
    const auto list = list_zip(file);
    REQUIRE(list);
    REQUIRE(list->size() == 3);
    CHECK((*list)[0].name == "model/archive_format");
    CHECK((*list)[0].size == 3);
    CHECK((*list)[0].stored);
    REQUIRE((*list)[0].offset);
    CHECK(file.substr(*(*list)[0].offset, 3) == "pt2");
    CHECK((*list)[1].size == 0);
    CHECK(*read_zip_member(file, "model/x.so") == "binary");
    CHECK(read_zip_member(file, "model/y.so").error().code == ErrorCode::kNotFound);
  }

  TEST_CASE("limits and damage") {
    const std::string file = archive({{"a", "12345"}, {"b", "1"}});
    ZipLimits limits;
    limits.max_members = 1;
    CHECK(list_zip(file, limits).error().code == ErrorCode::kLimitSize);
    limits = {};
    limits.max_name = 0;
    CHECK(list_zip(file, limits).error().code == ErrorCode::kLimitSize);
    limits = {};
    limits.max_member_bytes = 4;
    CHECK(read_zip_member(file, "a", limits).error().code == ErrorCode::kLimitSize);
    CHECK(list_zip("").error().code == ErrorCode::kMalformed);
    CHECK(list_zip("not a zip").error().code == ErrorCode::kMalformed);
    std::string flipped = file;
    flipped[31] = 'X';  // inside the first member's data
    CHECK_FALSE(read_zip_member(flipped, "a"));
    for (std::size_t length = 0; length < file.size(); ++length) {
      const auto cut = list_zip(std::string_view(file).substr(0, length));
      CHECK_FALSE(cut);
    }
  }
}
