#pragma once

#include "verify/facts.h"
#include "verify/file_input.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Looks at one file: tells `report` what it found and returns what relations need to know of it. Runs on a
/// worker, for several files at once. A file that can't be read is the error; what is wrong with a file that
/// could be read is a finding.
using FileCheck = Expected<Facts> (*)(FileInput& input, FileReport& report);

/// What looks at a file of this kind; null where nothing has to be read (locks, temporaries, load markers).
FileCheck file_check_for(store::ArtifactKind kind);

}  // namespace cachetool::verify
