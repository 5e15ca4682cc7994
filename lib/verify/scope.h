#pragma once

#include "verify/finding.h"
#include "verify/inventory.h"

namespace cachetool::verify {

/// Whether a finding is about what the user asked for.
bool concerns_scope(const Inventory& inventory, const Finding& finding);

}  // namespace cachetool::verify
