#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Who may write what torch executes.
CheckGroup owner_checks();

}  // namespace cachetool::verify
