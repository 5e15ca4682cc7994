#include "base/json_writer.h"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/utf8.h"

using namespace cachetool;

namespace {

template <class Fill>
std::string written(JsonStyle style, Fill fill) {
  StringSink sink;
  {
    JsonWriter json(sink, style);
    fill(json);
  }
  return sink.text();
}

std::string json_string(std::string_view text) {
  return written(JsonStyle::kCompact, [&](JsonWriter& json) { json.string(text); });
}

std::string json_number(double value) {
  return written(JsonStyle::kCompact, [&](JsonWriter& json) { json.number(value); });
}

void fill_sample(JsonWriter& json) {
  json.begin_object();
  json.member("text", "a");
  json.member("view", std::string_view("b"));
  json.member("int", std::int64_t{-5});
  json.member("unsigned", std::numeric_limits<std::uint64_t>::max());
  json.member("yes", true);
  json.key("list");
  json.begin_array();
  json.integer(1);
  json.null();
  json.begin_array();
  json.end_array();
  json.begin_object();
  json.end_object();
  json.end_array();
  json.key("raw");
  json.raw("[1]");
  json.end_object();
}

class CountingSink final : public OutputSink {
 public:
  void write(std::string_view bytes) override {
    longest = std::max(longest, bytes.size());
    total += bytes.size();
    ++writes;
  }
  std::size_t longest = 0;
  std::size_t total = 0;
  std::size_t writes = 0;
};

}  // namespace

TEST_SUITE("base/json_writer") {
  TEST_CASE("the compact layout is that of json.dumps") {
    CHECK(written(JsonStyle::kCompact, fill_sample) ==
          R"({"text": "a", "view": "b", "int": -5, "unsigned": 18446744073709551615, "yes": true, )"
          R"("list": [1, null, [], {}], "raw": [1]})");
  }

  TEST_CASE("the indented layout is that of json.dumps with indent=2") {
    CHECK(written(JsonStyle::kIndented, fill_sample) == R"({
  "text": "a",
  "view": "b",
  "int": -5,
  "unsigned": 18446744073709551615,
  "yes": true,
  "list": [
    1,
    null,
    [],
    {}
  ],
  "raw": [1]
})");
    CHECK(written(JsonStyle::kIndented, [](JsonWriter& json) {
            json.begin_array();
            json.end_array();
          }) == "[]");
  }

  TEST_CASE("escapes of strings and keys") {
    CHECK(json_string("") == R"("")");
    CHECK(json_string("a\"b\\c/d") == R"("a\"b\\c/d")");
    CHECK(json_string("\n\r\t\b\f") == R"("\n\r\t\b\f")");
    CHECK(json_string(std::string("\0\x1f\x7f", 3)) == R"("\u0000\u001f\u007f")");
    CHECK(json_string("\u00e9\u20ac\U0001f600") == R"("\u00e9\u20ac\ud83d\ude00")");
    CHECK(json_string("\xed\xa0\x80") == R"("\ud800")");
    CHECK(json_string("a\xff\xc3") == R"("a\udcff\udcc3")");
    CHECK(written(JsonStyle::kCompact, [](JsonWriter& json) {
            json.begin_object();
            json.member("k\u00e9y\n", "v");
            json.end_object();
          }) == R"({"k\u00e9y\n": "v"})");
  }

  TEST_CASE("every code point is escaped as by CPython's json.dumps") {
    Sha256Stream digest;
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
      std::string text;
      append_utf8(text, c);
      std::string json;
      append_json_string(json, text);
      digest.update(json);
    }
    CHECK(to_hex(digest.finish()) == "c04b187dc06481e7699c30828e7411eeaf84ee8e73681f5f2478a8c7a31d782a");
  }

  TEST_CASE("numbers") {
    CHECK(json_number(1.0) == "1.0");
    CHECK(json_number(1e-5) == "1e-05");
    CHECK(json_number(1e16) == "1e+16");
    CHECK(json_number(-0.0) == "-0.0");
    CHECK(json_number(std::nan("")) == R"({"$float": "nan"})");
    CHECK(json_number(-std::numeric_limits<double>::infinity()) == R"({"$float": "-inf"})");
    CHECK(written(JsonStyle::kCompact, [](JsonWriter& json) {
            json.integer(std::numeric_limits<std::int64_t>::min());
          }) == "-9223372036854775808");
  }

  TEST_CASE("an independent reader gives any text back") {
    CHECK(rc::check("parse(string(t)) == t", [](const std::vector<std::uint32_t>& code_points) {
      std::string text;
      for (const std::uint32_t number : code_points) {
        // Every third one from the whole range, so that control characters and ASCII come up too.
        const char32_t c = number % (number % 3 == 0 ? 0x110000U : 0x100U);
        if (c < 0xd800 || c > 0xdfff) append_utf8(text, c);
      }
      const std::string json = json_string(text);
      for (const char byte : json) RC_ASSERT(byte >= 0x20 && byte < 0x7f);
      RC_ASSERT(nlohmann::json::parse(json).get<std::string>() == text);
    }));
  }

  TEST_CASE("an independent reader gives any finite number back") {
    CHECK(rc::check("parse(number(x)) == x", [](double value) {
      RC_PRE(std::isfinite(value));
      RC_ASSERT(nlohmann::json::parse(json_number(value)).get<double>() == value);
    }));
  }

  TEST_CASE("whatever bytes come in, JSON goes out") {
    CHECK(rc::check("accept(string(bytes))", [](const std::string& bytes) {
      const std::string json = json_string(bytes);
      for (const char byte : json) RC_ASSERT(byte >= 0x20 && byte < 0x7f);
    }));
  }

  TEST_CASE("memory stays bounded: bytes reach the sink while the document grows") {
    CountingSink sink;
    {
      JsonWriter json(sink);
      json.begin_array();
      for (int i = 0; i < 100'000; ++i) json.string("0123456789");
      CHECK(json.depth() == 1);
      json.end_array();
      CHECK(json.depth() == 0);
      json.flush();
      json.flush();
    }
    CHECK(sink.total == 100'000 * 14);
    CHECK(sink.writes > 10);
    CHECK(sink.longest < 70'000);
  }
}
