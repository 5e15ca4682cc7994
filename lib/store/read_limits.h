#pragma once

#include <cstdint>
#include <functional>

#include "base/budget.h"

namespace cachetool::store {

/// How much one entry may take.
struct ReadLimits {
  std::uint64_t max_memory = 0;  ///< bytes for decoding it; 0: Budget::for_input
  std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;

  Budget budget(std::uint64_t input_bytes) const {
    return max_memory == 0 ? Budget::for_input(input_bytes) : Budget(max_memory);
  }
};

/// Told after every few items; both counts only grow. Returns false to end the work with kInterrupted.
using ProgressCallback = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace cachetool::store
