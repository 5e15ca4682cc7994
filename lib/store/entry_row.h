#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "torch/entry_summary.h"

namespace cachetool::store {

enum class EntryState : std::uint8_t {
  kOk,
  kDamaged,     ///< read, but its bytes don't decode
  kUnreadable,  ///< not read: permission or I/O
};

/// One entry of a cache as listings, statistics and filters see it. Owns everything, so rows outlive what
/// they were decoded from; strings are numbers of an Interner.
struct EntryRow {
  torch::EntrySummary summary;  ///< kind, key and leaf always; the rest only when the state is kOk
  EntryState state = EntryState::kOk;
  bool counted_elsewhere = false;  ///< a graph whose compile time is part of an AOTAutograd entry's
  torch::InternId root = 0;        ///< where below the cache's root the fxgraph/ or aotautograd/ folder lies
  torch::InternId problem = 0;     ///< sentence for a person when the state isn't kOk
  torch::InternId problem_code = 0;
  std::uint64_t bytes = 0;  ///< apparent size of the file
  std::int64_t modified_ns = 0;
  std::int64_t compile_time_ns = -1;  ///< what the entry stands for (see compile_time.h); -1: not known
  std::int64_t held_bytes = -1;       ///< of files that only it references; -1: not asked for
};

}  // namespace cachetool::store
