#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Unfinished writes, lock files, presence locks.
CheckGroup leftover_checks();

}  // namespace cachetool::verify
