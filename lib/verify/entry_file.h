#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// Checks a file in a key's directory of `fxgraph/` or `aotautograd/`.
Expected<Facts> check_entry_file(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
