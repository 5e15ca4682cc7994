#include "container/zip_members.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;
using test::make_zip;

namespace {

constexpr std::uint64_t kMany = 1 << 20;

ErrorCode code(const std::string& bytes, std::uint64_t max = kMany) {
  const auto read = read_zip_contents(bytes, max);
  REQUIRE_FALSE(read);
  return read.error().code;
}

}  // namespace

TEST_SUITE("container/zip_members") {
  TEST_CASE("stored members lie in the archive, packed ones are unpacked") {
    const std::string bytes =
        make_zip({{"a", "stored"}, {"d/", ""}, {"b", std::string(1000, 'x'), true}, {"c", "", true}});
    auto read = read_zip_contents(bytes, kMany);
    REQUIRE(read);
    const ZipContents moved = std::move(*read);
    REQUIRE(moved.members.size() == 3);
    CHECK(moved.members[0].bytes == "stored");
    CHECK(moved.members[0].bytes.data() == bytes.data() + moved.members[0].offset);
    CHECK(moved.members[1].bytes == std::string(1000, 'x'));
    CHECK(moved.members[2].bytes.empty());
  }

  TEST_CASE("a bomb stops at the limit, whatever it declares") {
    const std::string bomb = make_zip({{"a", std::string(3 << 20, '\0'), true}});
    CHECK(code(bomb) == ErrorCode::kLimitSize);
    // Several that are small enough each.
    const std::string row(kMany / 2, '\0');
    CHECK(code(make_zip({{"a", row, true}, {"b", row, true}, {"c", row, true}})) == ErrorCode::kLimitSize);
    // One that says it is small: both headers have the size 16.
    std::string liar = make_zip({{"a", std::string(3 << 20, '\0'), true}});
    const std::string size = test::little_bytes(3 << 20, 4);
    for (std::size_t at = liar.find(size); at != std::string::npos; at = liar.find(size, at))
      liar.replace(at, 4, test::little_bytes(16, 4));
    CHECK(code(liar) == ErrorCode::kMalformed);
  }

  TEST_CASE("archives that readers disagree about") {
    CHECK(code(make_zip({{"a", "1"}, {"a", "2"}})) == ErrorCode::kMalformed);
    CHECK(code(make_zip({{"a", "1", false, "b"}})) == ErrorCode::kMalformed);
    CHECK(code(make_zip({{"a", "1"}, {.name = "b", .content = "2", .listed = false}})) ==
          ErrorCode::kMalformed);
    CHECK(code("xx" + make_zip({{"a", "1"}})) == ErrorCode::kMalformed);
    CHECK(code(make_zip({{.name = "a", .content = "1", .flags = 1}})) == ErrorCode::kUnsupported);
  }

  TEST_CASE("contents that were changed") {
    std::string bytes = make_zip({{"a", "contents"}});
    bytes[bytes.find("contents")] = 'C';
    CHECK(code(bytes) == ErrorCode::kMalformed);
  }

  TEST_CASE("cut at every length") {
    const std::string whole = make_zip({{"a", "stored"}, {"b", std::string(100, 'x'), true}});
    for (std::size_t length = 0; length < whole.size(); ++length)
      CHECK_FALSE(read_zip_contents(std::string_view(whole).substr(0, length), kMany));
  }
}
