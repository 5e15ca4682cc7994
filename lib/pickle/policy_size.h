#pragma once

#include <cstdint>
#include <optional>

#include "base/budget.h"
#include "pickle/document.h"

namespace cachetool::pickle {

/// What no loaded value of torch's comes near, and what Python would hang or overflow on when it hashes,
/// compares, prints or copies it.
inline constexpr std::uint32_t kMostUnfolded = std::uint32_t{1} << 30;
inline constexpr std::uint16_t kMostLevels = 50'000;

/// Values that are too large for what is written of them.
struct Oversize {
  /// Offset of the innermost value that unfolds to more than kMostUnfolded values, counting a shared one as
  /// often as it is held, and a part of a graph as one.
  std::optional<std::uint64_t> unfolds;
  /// Offset of the innermost value that has more than kMostLevels levels below it.
  std::optional<std::uint64_t> nested;
};

/// Measures everything that the root and the calls of a document hold. What holds itself counts once per way
/// around. Linear in the nodes and what they hold: each is measured once. `budget` pays for the table of
/// results and has it back at the end; nothing is returned when it runs out.
std::optional<Oversize> measure(const Document& document, Budget& budget);

}  // namespace cachetool::pickle
