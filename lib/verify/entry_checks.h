#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// FX graph and AOTAutograd entries by themselves: names, keys, pickles.
CheckGroup entry_checks();

}  // namespace cachetool::verify
