#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Wrapper and kernel modules, C++ sources, `.best_config`.
CheckGroup source_checks();

}  // namespace cachetool::verify
