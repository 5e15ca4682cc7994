#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <limits>
#include <optional>

#include "base/text.h"

namespace cachetool {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kWeek = 7 * kDay;

/// The run of digits that `text` starts with; takes it off.
std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<std::uint64_t> to_number(std::string_view digits) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

/// Power of 1024 of a unit ("", "B", "K", "KiB", …, "EiB"), in any case.
std::optional<unsigned> size_exponent(std::string_view unit) {
  if (unit.empty()) return 0;
  const auto upper = [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); };
  const char first = upper(unit[0]);
  if (first == 'B' && unit.size() == 1) return 0;
  const std::size_t exponent = std::string_view("KMGTPE").find(first);
  if (exponent == std::string_view::npos) return std::nullopt;
  const bool suffix_fits =
      unit.size() == 1 || (unit.size() == 3 && upper(unit[1]) == 'I' && upper(unit[2]) == 'B');
  if (!suffix_fits) return std::nullopt;
  return static_cast<unsigned>(exponent) + 1;
}

tl::unexpected<Error> no_size(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage, fmt::format("'{}' is not a size: {}", escape_for_terminal(text), why), {},
              {}, "write bytes or a number with a unit of 1024, such as 4096, 64KiB, 1.5M or 10G");
}

tl::unexpected<Error> no_duration(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage, fmt::format("'{}' is not a duration: {}", escape_for_terminal(text), why),
              {}, {}, "write a whole number with a unit, such as 90s, 5m, 12h, 7d or 2w, or 0");
}

std::optional<std::int64_t> duration_unit(std::string_view unit) {
  if (unit == "s") return kSecond;
  if (unit == "m") return kMinute;
  if (unit == "h") return kHour;
  if (unit == "d") return kDay;
  if (unit == "w") return kWeek;
  return std::nullopt;
}

}  // namespace

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  auto scaled = static_cast<double>(bytes) / 1024;
  // 1023.95 and above would print as 1024.0.
  while (scaled >= 1023.95 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", scaled, kUnits[unit]);
}

std::string format_duration(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  // The magnitude of the smallest value doesn't fit; it prints like its neighbour.
  const std::int64_t value =
      negative ? -std::max(nanoseconds, -std::numeric_limits<std::int64_t>::max()) : nanoseconds;
  const char* sign = negative ? "-" : "";
  const auto tenths = [](std::int64_t amount, std::int64_t unit) {
    return static_cast<double>(amount / (unit / 10) + (amount % (unit / 10) >= unit / 20 ? 1 : 0)) / 10;
  };
  if (value == 0) return "0 ms";
  if (value < kSecond - kMillisecond / 20)
    return fmt::format("{}{:.1f} ms", sign, tenths(value, kMillisecond));
  if (value < kMinute - kSecond / 20) return fmt::format("{}{:.1f} s", sign, tenths(value, kSecond));
  if (value < kHour - kSecond / 2) {
    const std::int64_t seconds = (value + kSecond / 2) / kSecond;
    return fmt::format("{}{}m {:02}s", sign, seconds / 60, seconds % 60);
  }
  const std::int64_t minutes = value / kMinute + (value % kMinute >= kMinute / 2 ? 1 : 0);
  if (minutes < 24 * 60) return fmt::format("{}{}h {:02}m", sign, minutes / 60, minutes % 60);
  return fmt::format("{}{}d {:02}h", sign, minutes / (24 * 60), minutes / 60 % 24);
}

std::string format_age(std::int64_t nanoseconds) {
  if (nanoseconds < 0) return "0s";
  if (nanoseconds < kMinute) return fmt::format("{}s", nanoseconds / kSecond);
  if (nanoseconds < kHour) return fmt::format("{}m", nanoseconds / kMinute);
  if (nanoseconds < kDay) return fmt::format("{}h", nanoseconds / kHour);
  if (nanoseconds < 2 * kWeek) return fmt::format("{}d", nanoseconds / kDay);
  return fmt::format("{}w", nanoseconds / kWeek);
}

std::string format_time_utc(std::int64_t ns_since_epoch) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(ns_since_epoch)};
  const auto seconds = floor<std::chrono::seconds>(time);
  const auto day = floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

Expected<std::uint64_t> parse_size(std::string_view text) {
  std::string_view rest = text;
  const std::optional<std::uint64_t> whole = to_number(take_digits(rest));
  if (!whole) return no_size(text, "it doesn't start with a number that fits");
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) return no_size(text, "no digit after the point");
  }
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::optional<unsigned> exponent = size_exponent(rest);
  if (!exponent) return no_size(text, "unknown unit");
  if (*exponent == 0 && !fraction.empty()) return no_size(text, "bytes come whole");

  const unsigned shift = *exponent * 10;
  if (shift != 0 && *whole >> (64 - shift) != 0) return no_size(text, "too large");
  std::uint64_t bytes = *whole << shift;
  // Digits beyond the ninth are far below a byte's worth of meaning.
  std::uint64_t scale = 1;
  std::uint64_t part = 0;
  for (const char c : fraction.substr(0, 9)) {
    part = part * 10 + static_cast<std::uint64_t>(c - '0');
    scale *= 10;
  }
  const auto extra =
      static_cast<std::uint64_t>(static_cast<long double>(part) / static_cast<long double>(scale) *
                                 static_cast<long double>(std::uint64_t{1} << shift));
  if (bytes > std::numeric_limits<std::uint64_t>::max() - extra) return no_size(text, "too large");
  bytes += extra;
  return bytes;
}

Expected<std::int64_t> parse_duration(std::string_view text) {
  if (text == "0") return 0;
  std::string_view rest = text;
  const std::optional<std::uint64_t> count = to_number(take_digits(rest));
  if (!count) return no_duration(text, "it doesn't start with a number that fits");
  const std::optional<std::int64_t> unit = duration_unit(rest);
  if (!unit) return no_duration(text, rest.empty() ? "it has no unit" : "unknown unit");
  if (*count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / *unit)) {
    return no_duration(text, "too large");
  }
  return static_cast<std::int64_t>(*count) * *unit;
}

}  // namespace cachetool
