#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cachetool::verify {

/// How bad a finding is. Ordered: a higher value is worse.
enum class Severity : std::uint8_t {
  kInfo,     ///< worth knowing; nothing breaks
  kWarning,  ///< costs time: torch recompiles, tunes again or reads for nothing
  kError,    ///< torch (or vLLM) will fail, or run wrong
};

/// "info", "warning", "error".
std::string_view severity_name(Severity severity);
/// The severity of that name; empty when there is none.
std::optional<Severity> parse_severity(std::string_view name);

}  // namespace cachetool::verify
