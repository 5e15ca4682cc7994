#pragma once

#include <cstdint>
#include <string_view>

#include "torch/key.h"

namespace cachetool::verify {

/// A generated text, as far as it takes to say whether two are the same: torch's name for it, and the white
/// space that the name leaves out. Costs one pass of SHA-256.
struct SourceText {
  torch::HashName name;    ///< 'c' + B(text without white space at its ends)
  std::uint64_t ends = 0;  ///< of that white space

  friend bool operator==(const SourceText&, const SourceText&) = default;
};

SourceText source_text(std::string_view text);

}  // namespace cachetool::verify
