#pragma once

#include "verify/file_checks.h"

namespace cachetool::verify {

/// vLLM's `model` (torch's AOTCompiledFunction): the pickle, the pickles in it as far as compiled parts are
/// concerned, and the parts' digests. A FileCheck. vllm/compilation/caching.py: VllmSerializableFunction,
/// StandaloneCompiledArtifacts (0.18.1 to 0.33.0).
Expected<Facts> check_vllm_model(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
