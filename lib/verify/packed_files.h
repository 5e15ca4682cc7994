#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// Files that pack entries: each a FileCheck. What is said of an item stands under
/// "FILE!type/key".

/// What torch.compiler.save_cache_artifacts returned.
Expected<Facts> check_mega_cache(FileInput& input, FileReport& report);
/// standalone_compile's binary form; vLLM's artifact files.
Expected<Facts> check_standalone(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
