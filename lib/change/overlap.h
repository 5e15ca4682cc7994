#pragma once

#include <vector>

#include "change/plan.h"

namespace cachetool::change {

/// Joins requests that name the same path, or one inside another's directory: each path then goes once, with
/// the outermost directory that was named. A joined request stands in the place of its first one, with that
/// one's label, the reasons of all (", " between them, each once), their locks, and quarantine if any of them
/// asks for it. Paths that aren't valid overlap with nothing.
std::vector<UnitRequest> join_overlapping(std::vector<UnitRequest> requests);

}  // namespace cachetool::change
