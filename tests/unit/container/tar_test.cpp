#include "container/tar.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;

TEST_SUITE_BEGIN("container/tar");

TEST_CASE("files are found where they lie") {
  const std::string bytes =
      test::make_tar({{"a/b", "content"}, {"empty", ""}, {"c", std::string(3000, 'c')}});
  CHECK(looks_like_tar(bytes));
  const TarListing listing = list_tar(bytes);
  CHECK_FALSE(listing.error);
  REQUIRE(listing.members.size() == 3);
  CHECK(listing.members[0].name == "a/b");
  CHECK(listing.members[0].bytes == "content");
  CHECK(listing.members[0].offset == 512);
  CHECK(listing.members[1].bytes.empty());
  CHECK(listing.members[2].bytes == std::string(3000, 'c'));
}

TEST_CASE("an archive without the magic word is known by its checksum") {
  std::string bytes = test::make_tar({{"old", "x"}});
  bytes.replace(257, 8, std::string(8, '\0'));
  CHECK_FALSE(looks_like_tar(bytes));
  unsigned sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i)
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(bytes[i]);
  std::array<char, 8> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
  bytes.replace(148, 7, std::string(checksum.data(), 7));
  CHECK(looks_like_tar(bytes));
}

TEST_CASE("a cut archive keeps the files before the cut") {
  const std::string bytes = test::make_tar({{"a", "first"}, {"b", std::string(5000, 'b')}});
  const TarListing listing = list_tar(std::string_view(bytes).substr(0, 512 + 512 + 512 + 1000));
  CHECK(listing.error);
  REQUIRE_FALSE(listing.members.empty());
  CHECK(listing.members[0].bytes == "first");
}

TEST_CASE("text is no tar archive, and more members than allowed are a limit") {
  CHECK_FALSE(looks_like_tar(std::string(600, 'a')));
  CHECK_FALSE(looks_like_tar(std::string(600, '\0')));
  const TarListing listing = list_tar(test::make_tar({{"a", ""}, {"b", ""}, {"c", ""}}), 2);
  REQUIRE(listing.error);
  CHECK(listing.error->code == ErrorCode::kLimitSize);
  CHECK(listing.members.size() == 2);
}

TEST_SUITE_END();
