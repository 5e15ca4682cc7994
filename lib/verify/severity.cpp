#include "verify/severity.h"

#include <array>

namespace cachetool::verify {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"info", "warning", "error"};

}  // namespace

std::string_view severity_name(Severity severity) {
  return kNames[static_cast<std::size_t>(severity)];
}

std::optional<Severity> parse_severity(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Severity>(i);
  return std::nullopt;
}

}  // namespace cachetool::verify
