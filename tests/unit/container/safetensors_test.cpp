#include "container/safetensors.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;
using test::little_bytes;

namespace {

std::string file(const std::string& header, std::size_t bytes) {
  return little_bytes(header.size(), 8) + header + std::string(bytes, '\x01');
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, int from, int to) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) +
         "\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[" + std::to_string(from) + "," +
         std::to_string(to) + "]}";
}

ErrorCode code(const std::string& bytes) {
  const auto read = read_safetensors(bytes);
  REQUIRE_FALSE(read);
  REQUIRE(read.error().offset);
  CHECK(*read.error().offset <= bytes.size());
  return read.error().code;
}

const std::string kTwo =
    file("{" + entry("b", "BF16", "[2,3]", 4, 16) + "," + entry("a", "F32", "[1]", 0, 4) +
             ",\"__metadata__\":{\"format\":\"pt\"}}   ",
         16);

}  // namespace

TEST_SUITE("container/safetensors") {
  TEST_CASE("tensors come in the order of their places") {
    CHECK(looks_like_safetensors(kTwo));
    const auto read = read_safetensors(kTwo);
    REQUIRE(read);
    REQUIRE(read->size() == 2);
    CHECK((*read)[0].name == "a");
    CHECK((*read)[0].dtype == "float32");
    CHECK((*read)[0].bytes.size() == 4);
    CHECK((*read)[1].name == "b");
    CHECK((*read)[1].dtype == "bfloat16");
    CHECK((*read)[1].size == std::vector<std::int64_t>{2, 3});
    CHECK((*read)[1].bytes.data() + 12 == kTwo.data() + kTwo.size());
  }

  TEST_CASE("no tensors, numbers, and tensors without elements") {
    CHECK(read_safetensors(file("{}", 0)));
    const std::string odd =
        file("{" + entry("scalar", "F8_E4M3", "[]", 0, 1) + "," + entry("e", "I64", "[0,3]", 1, 1) + "}", 1);
    const auto read = read_safetensors(odd);
    REQUIRE(read);
    CHECK(read->size() == 2);
  }

  TEST_CASE("places that overlap, leave a gap or end elsewhere") {
    CHECK(code(file("{" + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[4]", 2, 6) + "}", 6)) ==
          ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[4]", 0, 4) + "}", 4)) ==
          ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "U8", "[2]", 0, 2) + "," + entry("b", "U8", "[2]", 4, 6) + "}", 6)) ==
          ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "U8", "[2]", 1, 3) + "}", 3)) == ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "U8", "[2]", 0, 2) + "}", 3)) == ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "U8", "[2]", 0, 2) + "}", 1)) == ErrorCode::kTruncated);
    CHECK(code(file("{" + entry("a", "U8", "[2]", 2, 0) + "}", 2)) == ErrorCode::kMalformed);
    CHECK(code(file("{}", 1)) == ErrorCode::kMalformed);
  }

  TEST_CASE("sizes that lie") {
    CHECK(code(file("{" + entry("a", "F32", "[2]", 0, 4) + "}", 4)) == ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "F32", "[-1]", 0, 4) + "}", 4)) == ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "F32", "[4611686018427387904,4]", 0, 0) + "}", 0)) ==
          ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "F32", "[1.5]", 0, 4) + "}", 4)) == ErrorCode::kMalformed);
    CHECK(code(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551615]}}",
                    1)) == ErrorCode::kMalformed);
    CHECK(code(little_bytes(100'000'001, 8) + "{") == ErrorCode::kLimitSize);
    CHECK(code(little_bytes(UINT64_MAX, 8) + "{") == ErrorCode::kLimitSize);
    CHECK(code(little_bytes(50, 8) + "{") == ErrorCode::kTruncated);
  }

  TEST_CASE("headers that no writer makes") {
    CHECK(code(file("{" + entry("a", "U8", "[1]", 0, 1) + "," + entry("a", "U8", "[1]", 0, 1) + "}", 1)) ==
          ErrorCode::kMalformed);
    CHECK(code(file("{\"a\":3}", 0)) == ErrorCode::kMalformed);
    CHECK(code(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 0)) == ErrorCode::kMalformed);
    CHECK(code(file("{" + entry("a", "F6_E2M3", "[1]", 0, 1) + "}", 1)) == ErrorCode::kUnsupported);
    CHECK(code(file("{" + entry("\xff\xfe", "U8", "[1]", 0, 1) + "}", 1)) == ErrorCode::kMalformed);
    CHECK(code(file(" {}", 0)) == ErrorCode::kMalformed);
    CHECK(code(file("[]", 0)) == ErrorCode::kMalformed);
    CHECK(code(file("{\"a\":" + std::string(100, '['), 0)) == ErrorCode::kLimitDepth);
    CHECK(code(file("{", 0)) == ErrorCode::kMalformed);
  }

  TEST_CASE("cut at every length") {
    for (std::size_t length = 0; length < kTwo.size(); ++length)
      CHECK(code(kTwo.substr(0, length)) == ErrorCode::kTruncated);
  }
}
