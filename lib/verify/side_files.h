#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// Small JSON files beside the compiled things: each a FileCheck.

/// `cache/<hash>`: measured times.
Expected<Facts> check_benchmark_cache(FileInput& input, FileReport& report);
/// `memoizer_cache.json`.
Expected<Facts> check_memoizer(FileInput& input, FileReport& report);
/// `c….so.error`: a build that failed and isn't tried again.
Expected<Facts> check_build_error(FileInput& input, FileReport& report);
/// `aoti_eager/…`: its JSON indexes and libraries.
Expected<Facts> check_eager_aoti(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
