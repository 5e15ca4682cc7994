#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// What doctor looks at: file system, space, environment.
CheckGroup place_checks();

}  // namespace cachetool::verify
