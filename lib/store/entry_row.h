#pragma once

#include <cstdint>

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
  static constexpr std::uint32_t kUnclaimed = 0xffffffff;

  torch::EntrySummary summary;  ///< kind and key always; the rest only when the state is kOk
  EntryState state = EntryState::kOk;
  std::uint16_t store = 0;      ///< index into CacheSet::stores
  torch::InternId leaf = 0;     ///< file name where it is no hash ("entry"); else 0 and summary.leaf counts
  torch::InternId problem = 0;  ///< sentence for a person when the state isn't kOk
  torch::InternId problem_code = 0;  ///< "data.truncated"
  /// FX graph: the row of the AOTAutograd entry whose time contains this graph's (see compile_time.h).
  std::uint32_t claimed_by = kUnclaimed;
  /// The graph's time isn't part of a listing's total, because the entry that claims it is listed too.
  bool contained = false;
  std::uint64_t bytes = 0;  ///< apparent size of the file
  std::int64_t modified_ns = 0;
  std::int64_t compile_time_ns = -1;   ///< that the entry stands for; -1: not known
  torch::InternId outcome = 0;         ///< what becomes of CUDA graphs, in a word; 0: nobody said (OutcomeOf)
  torch::InternId outcome_reason = 0;  ///< why, in a few words
  std::int64_t held_bytes = -1;        ///< of what only it references, without itself; -1: not asked for
};

}  // namespace cachetool::store
