#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

// Generated sources, one file at a time.

/// `c….py`: a wrapper or a kernel.
Expected<Facts> check_python_module(FileInput& input, FileReport& report);
/// `c….cpp`, `c….main.cpp`, `c….optimized.cpp`. Names follow from the text and a compile command, so they are
/// put to the test once all sources are read: see cpp_names.h.
Expected<Facts> check_cpp_source(FileInput& input, FileReport& report);
/// `c….h`.
Expected<Facts> check_header(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
