#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "verify/finding.h"

namespace cachetool::verify {

/// Where a follow-up lies, seen from its cause.
enum class Extent : bool {
  kSamePath,     ///< both findings are about one file
  kInDirectory,  ///< the cause is about a directory, the follow-up about a file in it
};

/// A finding that only repeats what another one already says.
struct FollowUp {
  std::string_view cause;      ///< id of a check
  std::string_view follow_up;  ///< id of another
  Extent extent = Extent::kSamePath;
};

/// Every pair that is known.
std::span<const FollowUp> follow_ups();

/// Drops findings whose cause was found as well, so that one cause gives one finding. Linear.
void drop_follow_ups(std::vector<Finding>& findings);

}  // namespace cachetool::verify
