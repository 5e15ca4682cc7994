#include "container/npy.h"

#include <doctest/doctest.h>

#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::container;
using test::little_bytes;

namespace {

std::string header(std::string_view text, int version = 1) {
  return "\x93NUMPY" + little_bytes(static_cast<std::uint64_t>(version), 1) + std::string(1, '\0') +
         little_bytes(text.size(), version == 1 ? 2 : 4) + std::string(text);
}

std::string dict(std::string_view descr, std::string_view shape, std::string_view columns = "False") {
  return "{'descr': " + std::string(descr) + ", 'fortran_order': " + std::string(columns) +
         ", 'shape': " + std::string(shape) + ", }  \n";
}

std::string array(std::string_view descr, std::string_view shape, std::size_t bytes) {
  return header(dict(descr, shape)) + std::string(bytes, '\x01');
}

ErrorCode code(const std::string& bytes) {
  const auto read = read_npy(bytes);
  REQUIRE_FALSE(read);
  REQUIRE(read.error().offset);
  CHECK(*read.error().offset <= bytes.size());
  return read.error().code;
}

}  // namespace

TEST_SUITE("container/npy") {
  TEST_CASE("versions 1 to 3, rows and columns") {
    for (int version = 1; version <= 3; ++version) {
      const std::string rows = header(dict("'<f4'", "(2, 3)"), version) + std::string(24, '\x01');
      const auto read = read_npy(rows);
      REQUIRE(read);
      CHECK(read->dtype == "float32");
      CHECK(read->size == std::vector<std::int64_t>{2, 3});
      CHECK(read->stride == std::vector<std::int64_t>{3, 1});
      CHECK(read->bytes.size() == 24);
    }
    const std::string columns = header(dict("'<f4'", "(2, 3)", "True")) + std::string(24, '\x01');
    const auto read = read_npy(columns);
    REQUIRE(read);
    CHECK(read->stride == std::vector<std::int64_t>{1, 2});
  }

  TEST_CASE("numbers, booleans and bytes without a type") {
    struct Row {
      std::string_view descr, dtype;
      std::size_t bytes;
    };
    for (const Row& row :
         {Row{"'|b1'", "bool", 1}, Row{"'<f2'", "float16", 2}, Row{"'<u2'", "uint16", 2},
          Row{"'|V2'", "raw16", 2}, Row{"'<V2'", "raw16", 2}, Row{"'|V1'", "raw8", 1},
          Row{"'|u1'", "uint8", 1}, Row{"'<i8'", "int64", 8}, Row{"'<c16'", "complex128", 16}}) {
      const std::string bytes = array(row.descr, "(3,)", 3 * row.bytes);
      const auto read = read_npy(bytes);
      REQUIRE(read);
      CHECK(read->dtype == row.dtype);
    }
  }

  TEST_CASE("a number by itself, and arrays without elements") {
    CHECK(read_npy(array("'<f8'", "()", 8)));
    const std::string empty = array("'<f8'", "(0, 4611686018427387904, 4611686018427387904)", 0);
    CHECK(read_npy(empty));
  }

  TEST_CASE("what isn't read is named") {
    CHECK(code(array("'>f4'", "(1,)", 4)) == ErrorCode::kUnsupported);
    CHECK(code(array("'|O'", "(1,)", 8)) == ErrorCode::kUnsupported);
    CHECK(code(array("'<U4'", "(1,)", 16)) == ErrorCode::kUnsupported);
    CHECK(code(array("'<f16'", "(1,)", 16)) == ErrorCode::kUnsupported);
    CHECK(code(array("[('a', '<f4')]", "(1,)", 4)) == ErrorCode::kUnsupported);
    CHECK(code("\x93NUMPY\x04" + std::string(9, '\0')) == ErrorCode::kUnsupported);
  }

  TEST_CASE("sizes that lie") {
    CHECK(code(array("'<f4'", "(2,)", 7)) == ErrorCode::kTruncated);
    CHECK(code(array("'<f4'", "(2,)", 9)) == ErrorCode::kMalformed);
    CHECK(code(array("'<f4'", "(9223372036854775807, 9223372036854775807)", 8)) == ErrorCode::kTruncated);
    CHECK(code(array("'<f4'", "(-1,)", 8)) == ErrorCode::kMalformed);
    CHECK(code(array("'<f4'", "(99999999999999999999,)", 8)) == ErrorCode::kMalformed);
    CHECK(code("\x93NUMPY\x02" + std::string(1, '\0') + "\xff\xff\xff\xff{") == ErrorCode::kLimitSize);
  }

  TEST_CASE("headers that numpy doesn't write") {
    CHECK(code(header("{'descr': '<f4'}") + "1234") == ErrorCode::kMalformed);
    CHECK(code(header("{'descr': '<f4', 'shape': (1,), 'shape': (1,)}") + "1234") == ErrorCode::kMalformed);
    CHECK(code(header("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}") + "1234") ==
          ErrorCode::kMalformed);
    CHECK(code(header("{'descr': '<f4', 'fortran_order': False, 'shape': [1]}") + "1234") ==
          ErrorCode::kMalformed);
    CHECK(code(header("{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}") + "1234") ==
          ErrorCode::kMalformed);
    CHECK(code(header("{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}") + "1234") ==
          ErrorCode::kMalformed);
    CHECK(code(header("\xff\xfe{")) == ErrorCode::kMalformed);
    CHECK(code(header(std::string(200, '(') + "1")) != ErrorCode::kIo);
  }

  TEST_CASE("cut at every length") {
    const std::string whole = array("'<f4'", "(2, 3)", 24);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const ErrorCode found = code(whole.substr(0, length));
      CHECK((found == ErrorCode::kTruncated || (length < 6 && found == ErrorCode::kMalformed)));
    }
  }
}
