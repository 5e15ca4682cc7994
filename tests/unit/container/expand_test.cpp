#include "container/expand.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;

TEST_SUITE_BEGIN("container/expand");

namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919);
  return text;
}

}  // namespace

TEST_CASE("each kind is recognised and gives its bytes back") {
  const std::string text = long_text();
  const std::pair<Compression, std::string> kinds[] = {{Compression::kGzip, test::gzipped(text)},
                                                       {Compression::kZlib, test::deflated(text, 15)},
                                                       {Compression::kZstd, test::zstd_packed(text)}};
  for (const auto& [kind, packed] : kinds) {
    CAPTURE(compression_name(kind));
    CHECK(starts_compressed(packed) == kind);
    const Expanded expanded = expand(packed, kind);
    CHECK_FALSE(expanded.error);
    CHECK(expanded.bytes == text);
    CHECK(expanded.consumed == packed.size());
  }
  CHECK_FALSE(starts_compressed("plain text"));
  CHECK(expand(test::deflated(text, -15), Compression::kDeflate).bytes == text);
}

TEST_CASE("several members and frames follow each other; what comes behind them is left") {
  const Expanded gzip = expand(test::gzipped("one ") + test::gzipped("two") + "rest", Compression::kGzip);
  CHECK(gzip.bytes == "one two");
  CHECK_FALSE(gzip.error);
  CHECK(gzip.consumed == test::gzipped("one ").size() + test::gzipped("two").size());
  const Expanded zstd =
      expand(test::zstd_packed("one ") + test::zstd_packed("two") + "rest", Compression::kZstd);
  CHECK(zstd.bytes == "one two");
  CHECK_FALSE(zstd.error);
  CHECK(zstd.consumed == test::zstd_packed("one ").size() + test::zstd_packed("two").size());
}

TEST_CASE("a cut stream gives what came before the cut, and an error") {
  const std::string text = long_text();
  for (const Compression kind : {Compression::kGzip, Compression::kZstd}) {
    CAPTURE(compression_name(kind));
    const std::string packed = kind == Compression::kGzip ? test::gzipped(text) : test::zstd_packed(text);
    for (const std::size_t size : {std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
      const Expanded expanded = expand(packed.substr(0, size), kind);
      REQUIRE(expanded.error);
      CHECK(expanded.error->code == ErrorCode::kTruncated);
      CHECK(text.starts_with(expanded.bytes));
    }
  }
  CHECK(expand(test::gzipped(text).substr(0, 60'000), Compression::kGzip).bytes.size() > 50'000);
}

TEST_CASE("a flipped bit is an error") {
  std::string packed = test::gzipped(long_text());
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
  CHECK(expand(packed, Compression::kGzip).error);
}

TEST_CASE("a bomb stops at the limit and keeps what fits") {
  const std::string zeros(8 << 20, '\0');
  for (const Compression kind : {Compression::kGzip, Compression::kZstd}) {
    const std::string packed = kind == Compression::kGzip ? test::gzipped(zeros) : test::zstd_packed(zeros);
    const Expanded expanded = expand(packed, kind, {.max_bytes = 1000});
    REQUIRE(expanded.error);
    CHECK(expanded.error->code == ErrorCode::kLimitSize);
    CHECK(expanded.bytes == zeros.substr(0, 1000));
  }
}

TEST_CASE("a zstd frame with a window beyond the limit isn't decompressed") {
  // Magic number, a descriptor without content size, a window of 2^30 bytes, an empty last block.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00", 9);
  const Expanded expanded = expand(frame, Compression::kZstd);
  REQUIRE(expanded.error);
  CHECK(expanded.error->code == ErrorCode::kLimitMemory);
}

TEST_SUITE_END();
