#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachetool::report {

/// What a piece of output means to its reader; a Palette decides what that looks like.
enum class Style : std::uint8_t {
  kPlain,
  kHeading,  ///< titles of columns and sections
  kFaint,    ///< beside the point, but good to have
  kGood,
  kWarning,
  kBad,
  kName,  ///< keys and file names
};

enum class Colors : bool { kOff, kOn };

/// Turns styles into terminal sequences, or leaves text alone. Who writes to what decides
/// (commands/terminal.h).
class Palette {
 public:
  Palette() = default;
  explicit Palette(Colors colors) : colors_(colors) {}
  /// `text` in that style.
  std::string paint(std::string_view text, Style style) const;

 private:
  Colors colors_ = Colors::kOff;
};

}  // namespace cachetool::report
