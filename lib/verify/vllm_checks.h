#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Hash directories, indexes, artifacts and models.
CheckGroup vllm_checks();

}  // namespace cachetool::verify
