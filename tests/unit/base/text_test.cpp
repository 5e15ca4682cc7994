#include "base/text.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/hash.h"
#include "base/utf8.h"

using namespace cachetool;

namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::string utf8(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  return text;
}

/// One character for each of 128 * 256 * 36 sequences: where CPython finds the first invalid byte, '-' for
/// nowhere.
std::string digest_of_positions(Surrogates surrogates) {
  static constexpr std::array<int, 6> kTrails = {0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0};
  Sha256Stream digest;
  for (int first = 0x80; first < 0x100; ++first) {
    for (int second = 0; second < 0x100; ++second) {
      std::string row;
      for (const int third : kTrails) {
        for (const int fourth : kTrails) {
          const std::array<char, 4> bytes = {static_cast<char>(first), static_cast<char>(second),
                                             static_cast<char>(third), static_cast<char>(fourth)};
          const std::size_t found = find_invalid_utf8({bytes.data(), bytes.size()}, surrogates);
          row += found == kNone ? "-" : std::to_string(found);
        }
      }
      digest.update(row);
    }
  }
  return to_hex(digest.finish());
}

}  // namespace

// The digests in here are of what CPython 3.11 makes of the same inputs.

TEST_SUITE("base/text") {
  TEST_CASE("invalid UTF-8 is found where CPython finds it") {
    CHECK(digest_of_positions(Surrogates::kRejected) ==
          "7b49b1b421a855f5fba662bf125f3f12ee4689faa06742a1e05a4b3ee7ed6120");
    CHECK(digest_of_positions(Surrogates::kAllowed) ==
          "3f6cca5741b0b3c6716b41dbff20a9dafebf9bfbb66dc1773b53e30662a66389");
  }

  TEST_CASE("the word-wise path misses no position") {
    for (std::size_t length = 0; length <= 40; ++length) {
      const std::string ascii(length, 'a');
      CHECK(find_invalid_utf8(ascii, Surrogates::kRejected) == kNone);
      CHECK(find_non_ascii(ascii) == length);
      for (std::size_t position = 0; position < length; ++position) {
        std::string text = ascii;
        text[position] = '\xff';
        CHECK(find_invalid_utf8(text, Surrogates::kRejected) == position);
        CHECK(find_non_ascii(text) == position);
        CHECK(find_non_ascii(text, position + 1) == length);
        text.insert(0, "\u00e9");
        CHECK(find_invalid_utf8(text, Surrogates::kRejected) == position + 2);
      }
    }
  }

  TEST_CASE("sequences cut by the end are invalid") {
    for (const char* whole : {"\u00e9", "\u20ac", "\U0001f600"}) {
      const std::string text = std::string("ab") + whole;
      CHECK(find_invalid_utf8(text, Surrogates::kRejected) == kNone);
      for (std::size_t length = 3; length < text.size(); ++length) {
        CHECK(find_invalid_utf8(text.substr(0, length), Surrogates::kRejected) == 2);
      }
    }
  }

  TEST_CASE("every code point survives append and decode") {
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
      const std::string text = utf8(c);
      const CodePoint decoded = decode_utf8(text, 0, Surrogates::kAllowed);
      if (!decoded.valid || decoded.value != c || decoded.length != text.size())
        FAIL_CHECK(static_cast<unsigned>(c));
    }
  }

  TEST_CASE("what a terminal gets to see") {
    CHECK(escape_for_terminal("plain \\ text \u00e9 \u4e2d \U0001f600") ==
          "plain \\ text \u00e9 \u4e2d \U0001f600");
    CHECK(escape_for_terminal("a\nb\rc\td") == "a\\nb\\rc\\td");
    CHECK(escape_for_terminal(std::string("\x1b[2J\0\x7f", 6)) == "\\x1b[2J\\x00\\x7f");
    CHECK(escape_for_terminal("\u0085\u009b") == "\\u0085\\u009b");
    CHECK(escape_for_terminal("\x85") == "\\x85");
    CHECK(escape_for_terminal("\u202e\u2066\u061c\u200f") == "\\u202e\\u2066\\u061c\\u200f");
    CHECK(escape_for_terminal("\u200b\u200d\ufeff\u00ad") == "\\u200b\\u200d\\ufeff\\u00ad");
    CHECK(escape_for_terminal("\u2028\u2029") == "\\u2028\\u2029");
    CHECK(escape_for_terminal("\U000e0041") == "\\U000e0041");
    CHECK(escape_for_terminal("a\xff\xc3") == "a\\xff\\xc3");
    CHECK(escape_for_terminal("\xed\xa0\x80") == "\\ud800");
    CHECK(escape_for_terminal("") == "");
  }

  TEST_CASE("nothing that a terminal would obey is left, whatever the code point") {
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
      const std::string shown = escape_for_terminal(utf8(c));
      for (const char byte : shown) {
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) FAIL_CHECK(static_cast<unsigned>(c));
      }
      if (find_invalid_utf8(shown, Surrogates::kRejected) != kNone) FAIL_CHECK(static_cast<unsigned>(c));
    }
  }

  TEST_CASE("repr of a str") {
    CHECK(python_repr("") == "''");
    CHECK(python_repr("it's") == R"("it's")");
    CHECK(python_repr(R"(say "hi")") == R"('say "hi"')");
    CHECK(python_repr(R"(it's "x")") == R"('it\'s "x"')");
    CHECK(python_repr("a\\b\n\x01") == R"('a\\b\n\x01')");
    CHECK(python_repr("\xff\xed\xa0\x80") == R"('\udcff\ud800')");
  }

  TEST_CASE("repr of every code point is CPython's") {
    Sha256Stream digest;
    for (char32_t c = 0; c <= 0x10ffff; ++c) digest.update(python_repr(utf8(c)));
    CHECK(to_hex(digest.finish()) == "b6fb494bfb07272225448a7ff999339424cff242a824a0e7ee52c7f1a3745706");
  }

  TEST_CASE("repr of bytes") {
    CHECK(python_bytes_repr("it's") == R"(b"it's")");
    CHECK(python_bytes_repr("'\"") == R"(b'\'"')");
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    CHECK(to_hex(sha256(python_bytes_repr(all))) ==
          "896463bd16ea9ebc4e4e16d25aafd2a680d5b19a03a37a2f088161d8b0f1c2e7");
  }

  TEST_CASE("repr of a float") {
    CHECK(python_float_repr(0.0) == "0.0");
    CHECK(python_float_repr(-0.0) == "-0.0");
    CHECK(python_float_repr(1.0) == "1.0");
    CHECK(python_float_repr(0.1) == "0.1");
    CHECK(python_float_repr(1e-4) == "0.0001");
    CHECK(python_float_repr(1e-5) == "1e-05");
    CHECK(python_float_repr(1.5e-7) == "1.5e-07");
    CHECK(python_float_repr(123456.75) == "123456.75");
    CHECK(python_float_repr(1e15) == "1000000000000000.0");
    CHECK(python_float_repr(1e16) == "1e+16");
    CHECK(python_float_repr(9007199254740993.0) == "9007199254740992.0");
    CHECK(python_float_repr(-1.7976931348623157e308) == "-1.7976931348623157e+308");
    CHECK(python_float_repr(5e-324) == "5e-324");
    CHECK(python_float_repr(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(python_float_repr(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(python_float_repr(-std::nan("")) == "nan");
  }

  TEST_CASE("repr of 40,000 floats is CPython's") {
    std::uint64_t state = 1;
    Sha256Stream digest;
    for (unsigned i = 0; i < 20000; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      double divisor = std::pow(10.0, static_cast<double>(i % 25));
      digest.update(python_float_repr(std::bit_cast<double>(state)) + "\n");
      digest.update(python_float_repr(static_cast<double>(state >> 11) / divisor) + "\n");
    }
    CHECK(to_hex(digest.finish()) == "63f729714ffeaf011e72c99209458451da1076e8d963400cac292e2a8de5b008");
  }
}
