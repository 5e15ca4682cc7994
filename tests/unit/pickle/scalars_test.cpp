// Numbers, strings and bytes, in the text protocol and in the binary ones.

#include <doctest/doctest.h>

#include <cmath>

#include "pickle/numbers.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

Value scalar_of(const std::string& bytes, Document& keep) {
  auto document = decode(bytes + ".");
  CAPTURE(bytes);
  if (!document) FAIL(describe(document.error()));
  keep = std::move(*document);
  return keep.root();
}

std::int64_t int_of(const std::string& bytes) {
  Document keep;
  const Value value = scalar_of(bytes, keep);
  REQUIRE(value.is(Tag::kInt));
  return value.as_int();
}

std::string text_of(const std::string& bytes) {
  Document keep;
  const Value value = scalar_of(bytes, keep);
  REQUIRE(value.is(Tag::kString));
  return std::string(value.bytes());
}

bool is_malformed(const std::string& bytes) {
  const auto document = decode(bytes + ".");
  return !document && document.error().code == ErrorCode::kMalformed && document.error().offset.has_value();
}

std::string line(std::string_view opcode, std::string_view text) {
  return std::string(opcode) + std::string(text) + "\n";
}

}  // namespace

TEST_SUITE("pickle/scalars") {
  TEST_CASE("binary integers") {
    CHECK(int_of(raw("K\xff")) == 255);
    CHECK(int_of(raw("M\xff\xff")) == 65535);
    CHECK(int_of(raw("J\xff\xff\xff\xff")) == -1);
    CHECK(int_of(raw("J\0\0\0\x80")) == -2147483648LL);
  }

  TEST_CASE("None and booleans") {
    Document keep;
    CHECK(scalar_of("N", keep).is_none());
    CHECK(scalar_of(raw("\x80\2\x88"), keep).as_bool());
    CHECK_FALSE(scalar_of(raw("\x80\2\x89"), keep).as_bool());
    CHECK(scalar_of("I01\n", keep).is(Tag::kBool));
    CHECK(scalar_of("I01\n", keep).as_bool());
    CHECK_FALSE(scalar_of("I00\n", keep).as_bool());
    CHECK(scalar_of("I1\n", keep).is(Tag::kInt));
  }

  TEST_CASE("INT and LONG as C and Python read them") {
    CHECK(int_of(line("I", "-12")) == -12);
    CHECK(int_of(line("I", "010")) == 8);
    CHECK(int_of(line("I", "0x1F")) == 31);
    CHECK(int_of(line("I", "1_000")) == 1000);
    CHECK(int_of(line("I", " 12")) == 12);
    CHECK(int_of(line("L", "12L")) == 12);
    CHECK(int_of(line("L", "12")) == 12);
    CHECK(int_of(line("L", "-9223372036854775808L")) == std::numeric_limits<std::int64_t>::min());
    for (const char* bad : {"", "x", "1__0", "_1", "1_", "09", "0b2", "1 2", "- 1"})
      CHECK(is_malformed(line("I", bad)));
    CHECK(is_malformed(line("L", "012L")));
    CHECK(is_malformed(line("L", "L")));
    CHECK(is_malformed(line("L", std::string(4301, '1') + "L")));
    Document keep;
    CHECK(to_decimal(scalar_of(line("L", std::string(4300, '7') + "L"), keep), 4096) ==
          std::string(4300, '7'));
  }

  TEST_CASE("big integers") {
    Document keep;
    CHECK(to_decimal(scalar_of(line("L", "-170141183460469231731687303715884105728L"), keep)) ==
          "-170141183460469231731687303715884105728");
    const Value big = scalar_of(raw("\x80\2\x8a\x09\0\0\0\0\0\0\0\x80\0"), keep);
    CHECK(big.is(Tag::kBigInt));
    CHECK(to_decimal(big) == "9223372036854775808");
    CHECK(to_decimal(scalar_of(raw("\x80\2\x8a\x09\0\0\0\0\0\0\0\0\xff"), keep)) == "-18446744073709551616");
    CHECK(int_of(raw("\x80\2\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff")) == -1);
    CHECK(int_of(raw("\x80\2\x8a\0")) == 0);
    CHECK(int_of(raw("\x80\2\x8b\1\0\0\0\x80")) == -128);
    CHECK(is_malformed(raw("\x80\2\x8b\xff\xff\xff\xff")));
    CHECK(to_decimal(scalar_of(raw("\x80\2\x8a\x0a") + std::string(9, '\0') + "\1", keep), 4) ==
          "0x1000000000000000000");
  }

  TEST_CASE("floats") {
    const auto float_of = [](const std::string& bytes) {
      Document keep;
      const Value value = scalar_of(bytes, keep);
      REQUIRE(value.is(Tag::kFloat));
      return value.as_float();
    };
    CHECK(float_of(raw("G\x3f\xf8\0\0\0\0\0\0")) == 1.5);
    CHECK(float_of(line("F", "-1.25e2")) == -125);
    CHECK(float_of(line("F", ".5")) == 0.5);
    CHECK(float_of(line("F", "5.")) == 5);
    CHECK(float_of(line("F", "-Infinity")) == -HUGE_VAL);
    CHECK(std::isnan(float_of(line("F", "nan"))));
    CHECK(float_of(line("F", "1e-400")) == 0);
    for (const char* bad : {"", ".", "e5", "1e", " 1", "1 ", "1_0", "0x10", "1e400", "nan(1)", "--1"}) {
      CHECK(is_malformed(line("F", bad)));
    }
  }

  TEST_CASE("text strings") {
    CHECK(text_of(line("S", "'a\\n\\x41\\101\\q\\''")) == "a\nAA\\q'");
    CHECK(text_of(line("S", "\"\"")).empty());
    for (const char* bad : {"", "'", "a", "'a\"", "'\\x4'", "'\\'", "'\\xff'", "'\xc3\xa9'"})
      CHECK(is_malformed(line("S", bad)));
    CHECK(text_of(line("V", "a\xe9\\u20ac\\U0001F600\\\\u0041\\x41\\")) ==
          "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\\\u0041\\x41\\");
    CHECK(text_of(line("V", "\\ud83d\\ude00")) == "\xed\xa0\xbd\xed\xb8\x80");
    for (const char* bad : {"\\u12", "\\uzzzz", "\\U00110000"}) CHECK(is_malformed(line("V", bad)));
  }

  TEST_CASE("binary strings are UTF-8 with surrogates, those of Python 2 are ASCII") {
    CHECK(text_of(raw("X\3\0\0\0\xe2\x82\xac")) == "\xe2\x82\xac");
    CHECK(text_of(raw("\x80\4\x8c\3\xed\xa0\x80")) == "\xed\xa0\x80");
    CHECK(text_of(raw("\x80\4\x8d\1\0\0\0\0\0\0\0a")) == "a");
    CHECK(text_of(raw("U\1a")) == "a");
    CHECK(text_of(raw("T\1\0\0\0a")) == "a");
    CHECK(is_malformed(raw("X\1\0\0\0\xff")));
    CHECK(is_malformed(raw("X\2\0\0\0\xc0\x80")));
    CHECK(is_malformed(raw("U\1\xe9")));
    for (std::size_t size = 0; size < 70; ++size) {  // a bad byte is found wherever it is
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, 'a');
        text[at] = '\xff';
        CHECK(is_malformed("X" + little(size, 4) + text));
      }
      CHECK(text_of("X" + little(size, 4) + std::string(size, 'a')).size() == size);
    }
  }

  TEST_CASE("bytes are views, bytearrays too") {
    Document keep;
    const Value bytes = scalar_of(raw("\x80\5"
                                      "C\2\0\xff"),
                                  keep);
    CHECK(bytes.is(Tag::kBytes));
    CHECK(bytes.bytes() == raw("\0\xff"));
    CHECK(scalar_of(raw("\x80\5\x96\1\0\0\0\0\0\0\0z"), keep).is(Tag::kByteArray));
    CHECK(scalar_of(raw("\x80\5\x96\1\0\0\0\0\0\0\0z\x98"), keep).is(Tag::kBuffer));
    CHECK(scalar_of(raw("\x80\5"
                        "C\1z\x98"),
                    keep)
              .is(Tag::kBytes));
    CHECK(is_malformed(raw("\x80\5N\x98")));
    CHECK(scalar_of(raw("\x80\4"
                        "B\1\0\0\0z"),
                    keep)
              .bytes() == "z");
    CHECK(scalar_of(raw("\x80\4\x8e\1\0\0\0\0\0\0\0z"), keep).bytes() == "z");
  }

  TEST_CASE("declared lengths beyond the end take nothing") {
    for (const std::string& bytes :
         {raw("X\xff\xff\xff\xff"), raw("\x80\4\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"),
          raw("\x80\4\x8e\xff\xff\xff\xff\xff\xff\xff\xff"), raw("B\xff\xff\xff\x7f"),
          raw("\x80\2\x8b\xff\xff\xff\x7f"), raw("U\2a"), raw("K"), raw("G\0\0\0"), raw("I1")}) {
      Budget budget = Budget::for_input(bytes.size());
      const auto document = parse(bytes, budget);
      REQUIRE_FALSE(document);
      CHECK(document.error().code == ErrorCode::kTruncated);
      CHECK(budget.peak() < 10'000);
      CHECK(budget.used() == 0);
    }
  }
}
