#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// What files name of each other, and whether it is there and fits.
CheckGroup reference_checks();

}  // namespace cachetool::verify
