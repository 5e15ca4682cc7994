#include "base/units.h"

#include <doctest/doctest.h>

#include <limits>

using namespace cachetool;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kS = 1000 * kMs;

}  // namespace

TEST_SUITE("base/units") {
  TEST_CASE("sizes for a person") {
    CHECK(format_size(0) == "0 B");
    CHECK(format_size(812) == "812 B");
    CHECK(format_size(1023) == "1023 B");
    CHECK(format_size(1024) == "1.0 KiB");
    CHECK(format_size(1536) == "1.5 KiB");
    CHECK(format_size(1024 * 1024 - 1) == "1.0 MiB");
    CHECK(format_size(1000 * 1024) == "1000.0 KiB");
    CHECK(format_size(8'912'000'000) == "8.3 GiB");
    CHECK(format_size(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB");
  }

  TEST_CASE("durations for a person") {
    CHECK(format_duration(0) == "0 ms");
    CHECK(format_duration(400'000) == "0.4 ms");
    CHECK(format_duration(999 * kMs) == "999.0 ms");
    CHECK(format_duration(1000 * kMs - 1) == "1.0 s");
    CHECK(format_duration(12'345 * kMs) == "12.3 s");
    CHECK(format_duration(60 * kS - 1) == "1m 00s");
    CHECK(format_duration(185 * kS) == "3m 05s");
    CHECK(format_duration(3600 * kS - 1) == "1h 00m");
    CHECK(format_duration(7800 * kS) == "2h 10m");
    CHECK(format_duration(100 * 3600 * kS) == "4d 04h");
    CHECK(format_duration(-1500 * kMs) == "-1.5 s");
    CHECK(format_duration(std::numeric_limits<std::int64_t>::min()) ==
          "-" + format_duration(std::numeric_limits<std::int64_t>::max()));
  }

  TEST_CASE("ages") {
    CHECK(format_age(-5 * kS) == "0s");
    CHECK(format_age(5 * kS + 1) == "5s");
    CHECK(format_age(60 * kS) == "1m");
    CHECK(format_age(3599 * kS) == "59m");
    CHECK(format_age(2 * 3600 * kS) == "2h");
    CHECK(format_age(std::int64_t{4} * 86400 * kS) == "4d");
    CHECK(format_age(std::int64_t{13} * 86400 * kS) == "13d");
    CHECK(format_age(std::int64_t{50} * 86400 * kS) == "7w");
  }

  TEST_CASE("points in time") {
    CHECK(format_time_utc(0) == "1970-01-01T00:00:00Z");
    CHECK(format_time_utc(-1) == "1969-12-31T23:59:59Z");
    CHECK(format_time_utc(1'796'042'096'999'999'999) == "2026-11-30T12:34:56Z");
    CHECK(format_time_utc(1'709'164'800 * kS) == "2024-02-29T00:00:00Z");
    CHECK(format_time_utc(std::numeric_limits<std::int64_t>::min()) == "1677-09-21T00:12:43Z");
    CHECK(format_time_utc(std::numeric_limits<std::int64_t>::max()) == "2262-04-11T23:47:16Z");
  }

  TEST_CASE("sizes as users write them") {
    CHECK(parse_size("0").value() == 0);
    CHECK(parse_size("4096").value() == 4096);
    CHECK(parse_size("4096B").value() == 4096);
    CHECK(parse_size("64KiB").value() == 65536);
    CHECK(parse_size("64k").value() == 65536);
    CHECK(parse_size("1.5M").value() == 1572864);
    CHECK(parse_size("10G").value() == 10737418240);
    CHECK(parse_size("8.3 GiB").value() == 8912057139);
    CHECK(parse_size("18446744073709551615").value() == std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_size("15.999999999E").value() > std::uint64_t{15} << 60);
  }

  TEST_CASE("what is no size") {
    for (const char* text :
         {"", "G", "-1", "+1", "1.", ".5G", "1.5", "1KB", "1 K B", "1Gi", "1e9", "1,5G", "0x10", " 1", "1  K",
          "18446744073709551616", "16E", "99999999999999999999G", "1\n"}) {
      CAPTURE(text);
      const auto size = parse_size(text);
      REQUIRE_FALSE(size.has_value());
      CHECK(size.error().code == ErrorCode::kUsage);
      CHECK_FALSE(size.error().hint.empty());
    }
    CHECK(parse_size("\x1b[2J").error().message.find('\x1b') == std::string::npos);
  }

  TEST_CASE("durations as users write them") {
    CHECK(parse_duration("0").value() == 0);
    CHECK(parse_duration("0s").value() == 0);
    CHECK(parse_duration("90s").value() == 90 * kS);
    CHECK(parse_duration("5m").value() == 300 * kS);
    CHECK(parse_duration("12h").value() == 43200 * kS);
    CHECK(parse_duration("7d").value() == 604800 * kS);
    CHECK(parse_duration("2w").value() == 1209600 * kS);
  }

  TEST_CASE("what is no duration") {
    for (const char* text : {"", "5", "s", "-5s", "1.5h", "5 m", "5M", "5min", "1h30m",
                             "99999999999999999999s", "15251w", "9223372037s"}) {
      CAPTURE(text);
      const auto duration = parse_duration(text);
      REQUIRE_FALSE(duration.has_value());
      CHECK(duration.error().code == ErrorCode::kUsage);
    }
    CHECK(parse_duration("9223372036s").has_value());
  }
}
