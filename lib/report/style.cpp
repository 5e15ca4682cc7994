#include "report/style.h"

namespace cachetool::report {
namespace {

std::string_view sequence(Style style) {
  switch (style) {
    case Style::kPlain:
      return {};
    case Style::kHeading:
      return "\x1b[1m";
    case Style::kFaint:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarning:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kName:
      return "\x1b[36m";
  }
  return {};
}

}  // namespace

std::string Palette::paint(std::string_view text, Style style) const {
  const std::string_view start = sequence(style);
  if (colors_ == Colors::kOff || start.empty() || text.empty()) return std::string(text);
  return std::string(start) + std::string(text) + "\x1b[0m";
}

}  // namespace cachetool::report
