#pragma once

#include <cstdint>
#include <vector>

#include "change/execute.h"
#include "change/plan.h"
#include "verify/verify.h"

namespace cachetool::verify {

/// What `--repair` would move in one root, and what became of it.
struct RootRepair {
  std::uint32_t root = 0;  ///< index into CacheSet::roots
  change::Plan plan;
  change::Outcome outcome;       ///< once it was executed: a unit for each of the plan
  std::optional<Error> failure;  ///< the run as a whole
  bool executed = false;
};

/// Settles the repairs of earlier processes that were cut off (change::recover), in every root. To be done
/// before the cache is looked at: what goes back to its place is as damaged as it was. Returns what couldn't
/// be settled, with full paths; a root whose state can't be opened is left to execute_repair, which says so.
std::vector<Error> settle_earlier(FileSystem& fs, const store::CacheSet& cache, std::uint32_t uid);

/// Plans the moves that findings name (Finding::repair), a plan for each root that has any. Writes nothing.
std::vector<RootRepair> plan_repair(FileSystem& fs, const store::CacheSet& cache, const Result& result);

/// Moves what the plans say into quarantine. Nothing is deleted.
void execute_repair(FileSystem& fs, const store::CacheSet& cache, std::vector<RootRepair>& repairs,
                    const change::Settings& settings);

/// Whether all that a finding wanted moved is in quarantine now.
bool is_mended(const Finding& finding, const std::vector<RootRepair>& repairs);

}  // namespace cachetool::verify
