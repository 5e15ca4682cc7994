#include "container/zip_directory.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;
using test::make_zip;
using test::ZipPart;

TEST_SUITE_BEGIN("container/zip_directory");

namespace {

bool has_problem(const ZipDirectory& directory, std::string_view part) {
  for (const ZipProblem& problem : directory.problems)
    if (problem.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("members are listed with the place of their bytes") {
  const std::string bytes =
      make_zip({{"a/one", "first"}, {"two", std::string(1000, 'x'), true}, {"dir/", ""}});
  CHECK(starts_as_zip(bytes));
  CHECK(ends_as_zip(bytes));
  const auto directory = read_zip_directory(bytes);
  REQUIRE(directory);
  CHECK(directory->problems.empty());
  REQUIRE(directory->records.size() == 3);
  CHECK(directory->records[0].name == "a/one");
  CHECK(directory->records[0].data == "first");
  CHECK(bytes.substr(directory->records[0].data_offset, 5) == "first");
  CHECK(directory->records[1].method == kZipDeflated);
  CHECK(directory->records[1].size == 1000);
  CHECK(directory->records[2].is_directory());
}

TEST_CASE("an empty archive has no members") {
  const auto directory = read_zip_directory(make_zip({}));
  REQUIRE(directory);
  CHECK(directory->records.empty());
  CHECK(directory->problems.empty());
}

TEST_CASE("what readers would see differently is a problem") {
  SUBCASE("another name in the member's own header") {
    const auto directory = read_zip_directory(make_zip({{"good", "x", false, "evil"}}));
    REQUIRE(directory);
    CHECK(has_problem(*directory, "another name"));
  }
  SUBCASE("a member that the directory doesn't list") {
    const auto directory =
        read_zip_directory(make_zip({{"a", "1"}, {.name = "b", .content = "2", .listed = false}}));
    REQUIRE(directory);
    CHECK(directory->records.size() == 1);
    CHECK(has_problem(*directory, "doesn't list"));
  }
  SUBCASE("one name twice") {
    const auto directory = read_zip_directory(make_zip({{"a", "1"}, {"a", "2"}}));
    REQUIRE(directory);
    CHECK(has_problem(*directory, "same name"));
  }
  SUBCASE("bytes in front") {
    const std::string bytes = "#!/bin/sh\n" + make_zip({{"a", "1"}});
    const auto directory = read_zip_directory(bytes);
    REQUIRE(directory);
    CHECK(has_problem(*directory, "10 bytes in front"));
    CHECK(directory->records[0].data == "1");
  }
  SUBCASE("two members over the same bytes") {
    std::string bytes = make_zip({{"a", "1111"}, {"b", "2222"}});
    const std::size_t second = bytes.rfind(std::string("PK\x01\x02", 4));
    bytes.replace(second + 42, 4, std::string(4, '\0'));
    const auto directory = read_zip_directory(bytes);
    REQUIRE(directory);
    CHECK(has_problem(*directory, "overlap"));
  }
  SUBCASE("other sizes in the member's own header") {
    std::string bytes = make_zip({{"a", "1111"}});
    bytes[22] = 3;
    const auto directory = read_zip_directory(bytes);
    REQUIRE(directory);
    CHECK(has_problem(*directory, "other sizes"));
  }
  SUBCASE("another compression in the member's own header") {
    std::string bytes = make_zip({{"a", "1111"}});
    bytes[8] = 8;
    const auto directory = read_zip_directory(bytes);
    REQUIRE(directory);
    CHECK(has_problem(*directory, "another compression"));
  }
  SUBCASE("a number of members that isn't theirs") {
    std::string bytes = make_zip({{"a", "1"}});
    bytes[bytes.size() - 12] = 2;
    const auto directory = read_zip_directory(bytes);
    REQUIRE(directory);
    CHECK(has_problem(*directory, "counts 2 members"));
  }
}

TEST_CASE("every cut is an error and never a crash") {
  const std::string bytes = make_zip({{"a/one", "first"}, {"two", std::string(100, 'x'), true}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read_zip_directory(bytes.substr(0, size)));
  }
}

TEST_CASE("more members than allowed are a limit, not memory") {
  std::vector<ZipPart> parts(5, ZipPart{"x", ""});
  const auto directory = read_zip_directory(make_zip(parts), 4);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().code == ErrorCode::kLimitSize);
}

TEST_CASE("a directory that claims to be larger than the file is malformed") {
  std::string bytes = make_zip({{"a", "1"}});
  bytes.replace(bytes.size() - 10, 4, "\xff\xff\xff\x7f");
  const auto directory = read_zip_directory(bytes);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().code == ErrorCode::kMalformed);
}

TEST_SUITE_END();
