#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Kernel directories, groups and metadata.
CheckGroup triton_checks();

}  // namespace cachetool::verify
