#include "verify/scan/scan_result.h"

#include <array>

namespace cachetool::verify {

std::string_view verdict_name(ScanVerdict verdict) {
  constexpr std::array<std::string_view, 6> kNames = {"none",    "data",      "unscanned",
                                                      "unknown", "malformed", "dangerous"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view subject_name(ScanSubject subject) {
  constexpr std::array<std::string_view, 4> kNames = {"name", "pickle", "expression", "container"};
  return kNames[static_cast<std::size_t>(subject)];
}

}  // namespace cachetool::verify
