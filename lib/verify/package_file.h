#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// AOTInductor's `.pt2` package: a zip archive whose directory, headers and contents must agree. A FileCheck.
Expected<Facts> check_package(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
