#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cachetool {

/// IEC units with at most one decimal: "0 B", "812 B", "1.5 KiB", "8.3 GiB".
std::string format_size(std::uint64_t bytes);

/// Nanoseconds for a person: "0.4 ms", "12.3 s", "3m 05s", "2h 10m".
std::string format_duration(std::int64_t nanoseconds);

/// An age in coarse steps: "5s", "3m", "2h", "4d", "7w"; "in the future" becomes "0s".
std::string format_age(std::int64_t nanoseconds);

/// "2026-11-30T12:34:56Z" (UTC) for nanoseconds since the epoch.
std::string format_time_utc(std::int64_t ns_since_epoch);

/// Sizes as users write them: "10G", "1.5M", "64KiB", "4096" (IEC, bytes without a unit). kUsage on anything
/// else.
Expected<std::uint64_t> parse_size(std::string_view text);

/// Durations as users write them: "90s", "5m", "12h", "7d", "2w", "0". Nanoseconds. kUsage on anything else.
Expected<std::int64_t> parse_duration(std::string_view text);

}  // namespace cachetool
