#include "container/frame.h"

#include <string>

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::container;

namespace {
std::string number(std::uint64_t value, int bytes = 8) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  return text;
}
std::string part(const std::string& bytes) {
  return number(bytes.size()) + bytes;
}
std::string sealed(const std::string& body) {
  return number(crc32(body), 4) + body;
}
}  // namespace

TEST_SUITE("container/frame") {
  TEST_CASE("crc32 and base64 give known values") {
    CHECK(crc32("123456789") == 0xcbf43926u);
    CHECK(*from_base64("aW5kdWN0b3I=") == "inductor");
    CHECK(*from_base64("YWI=") == "ab");
    CHECK(*from_base64("YQ==") == "a");
    CHECK(*from_base64("") == "");
    CHECK_FALSE(from_base64("YQ="));
    CHECK_FALSE(from_base64("Y==="));
    CHECK_FALSE(from_base64("Y.Q="));
    CHECK_FALSE(from_base64("=QAA"));
  }

  TEST_CASE("mega-cache groups, two of one type") {
    const std::string blob = sealed(number(1) + part("aW5kdWN0b3I=") + number(2) + part("YQ==") +
                                    part("one") + part("YWI=") + part("") + part("aW5kdWN0b3I=") + number(0));
    CHECK(looks_like_mega_cache(blob));
    CHECK_FALSE(looks_like_standalone(blob));
    const auto cache = read_mega_cache(blob);
    REQUIRE(cache);
    CHECK(cache->version == 1);
    REQUIRE(cache->groups.size() == 2);
    CHECK(cache->groups[0].type == "inductor");
    REQUIRE(cache->groups[0].items.size() == 2);
    CHECK(cache->groups[0].items[0].key == "a");
    CHECK(cache->groups[0].items[0].content == "one");
    CHECK(blob.substr(cache->groups[0].items[0].offset, 3) == "one");
    CHECK(cache->groups[0].items[1].key == "ab");
    CHECK(cache->groups[1].items.empty());
  }

  TEST_CASE("the three forms of a standalone artifact") {
    const std::string key(32, 'k');
    const std::string old_bytes = sealed(part(key) + part("YQ==") + part("blob"));
    const auto old = read_standalone(old_bytes);
    REQUIRE(old);
    CHECK(old->form == StandaloneArtifact::Form::kUnmarked);
    CHECK(old->torch_key == key);
    CHECK(old->aot_key == "a");
    CHECK(old->mega_cache == "blob");
    const std::string cache_bytes =
        sealed(part("CacheCompiledArtifact") + part(key) + part("YQ==") + part("blob"));
    const auto cache = read_standalone(cache_bytes);
    REQUIRE(cache);
    CHECK(cache->form == StandaloneArtifact::Form::kCache);
    CHECK(cache->mega_cache == "blob");
    const std::string aot_bytes = sealed(part("AOTCompiledArtifact") + part(key) + part("pickle"));
    CHECK(looks_like_standalone(aot_bytes));
    const auto aot = read_standalone(aot_bytes);
    REQUIRE(aot);
    CHECK(aot->form == StandaloneArtifact::Form::kAot);
    CHECK(aot->bundle == "pickle");
    CHECK(aot->mega_cache.empty());
  }

  TEST_CASE("lengths and counts that lie") {
    const auto huge = read_mega_cache(sealed(number(1) + number(UINT64_MAX) + "x"));
    REQUIRE_FALSE(huge);
    CHECK(huge.error().code == ErrorCode::kTruncated);
    CHECK(huge.error().offset == 12u);
    const auto many = read_mega_cache(sealed(number(1) + part("YQ==") + number(UINT64_MAX)));
    REQUIRE_FALSE(many);
    CHECK(many.error().offset == 24u);
    CHECK(read_mega_cache(sealed(number(2))).error().code == ErrorCode::kUnsupported);
    CHECK(read_mega_cache(sealed(number(1) + part("?") + number(0))).error().code == ErrorCode::kMalformed);
    CHECK(read_standalone(sealed(part("OtherArtifact"))).error().code == ErrorCode::kMalformed);
    CHECK_FALSE(
        read_standalone(sealed(part(std::string(32, 'k')) + part("YQ==") + part("blob") + part("more"))));
    CHECK(read_mega_cache("").error().code == ErrorCode::kTruncated);
  }

  TEST_CASE("every cut and every flipped bit is noticed") {
    const std::string blob = sealed(number(1) + part("YQ==") + number(1) + part("YQ==") + part("content"));
    REQUIRE(read_mega_cache(blob));
    for (std::size_t length = 0; length < blob.size(); ++length)
      CHECK_FALSE(read_mega_cache(blob.substr(0, length)));
    for (std::size_t bit = 0; bit < blob.size() * 8; ++bit) {
      std::string other = blob;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      CHECK_FALSE(read_mega_cache(other));
    }
  }
}
