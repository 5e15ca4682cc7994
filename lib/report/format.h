#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "report/style.h"

namespace cachetool::report {

/// How a result is written.
enum class Format : std::uint8_t {
  kHuman,      ///< tables and sections for a person
  kJson,       ///< one document
  kJsonLines,  ///< one document a line, one line an item
  kCsv,
};

/// Sizes as "3.4 MiB" or as exact numbers of bytes.
enum class Sizes : bool { kRounded, kExact };
/// Keys and file names cut to what tells them apart, or whole.
enum class Names : bool { kShort, kFull };

/// What human formats depend on.
struct Look {
  std::size_t width = 0;  ///< columns of the terminal, 0: as long as it takes
  Palette palette;
  Sizes sizes = Sizes::kRounded;
  Names names = Names::kShort;

  std::string size(std::uint64_t bytes) const {
    return sizes == Sizes::kExact ? std::to_string(bytes) : format_size(bytes);
  }
};

}  // namespace cachetool::report
