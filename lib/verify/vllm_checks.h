#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// vLLM's compile cache: indexes, factors, artifacts, models.
CheckGroup vllm_checks();

namespace checks {

extern const Check kVllmIndex;
extern const Check kVllmArtifactMissing;
extern const Check kVllmArtifactKey;
extern const Check kVllmArtifactUnlisted;
extern const Check kVllmMoved;
extern const Check kVllmUnpacked;
extern const Check kVllmFactors;
extern const Check kVllmSecret;
extern const Check kVllmModel;
extern const Check kVllmModelDigest;
extern const Check kVllmModelEmpty;

}  // namespace checks

}  // namespace cachetool::verify
