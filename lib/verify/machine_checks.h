#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// What `--deep` and `--against` look at: symbols, versions, processor and GPU.
CheckGroup machine_checks();

}  // namespace cachetool::verify
