#pragma once

#include "verify/file_input.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Looks at the first and the last byte of a file that must be one pickle of protocol 2 or later (`--quick`).
/// False, having told `report`, when they can't be those of a pickle that torch wrote.
Expected<bool> check_pickle_ends(const FileInput& input, FileReport& report);

}  // namespace cachetool::verify
