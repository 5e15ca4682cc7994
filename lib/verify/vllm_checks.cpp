#include "verify/vllm_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

const Check kVllmIndex{
    .id = "vllm.index",
    .title = "vLLM's index can't be read",
    .severity = Severity::kError,
    .mend = "move the prefix directory away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmArtifactMissing{
    .id = "vllm.artifact-missing",
    .title = "vLLM's index names an artifact that isn't there",
    .severity = Severity::kError,
    .mend = "move the prefix directory away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmArtifactKey{
    .id = "vllm.artifact-key",
    .title = "an artifact of vLLM holds another graph than its index says",
    .severity = Severity::kError,
    .mend = "move the prefix directory away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmArtifactUnlisted{
    .id = "vllm.artifact-unlisted",
    .title = "vLLM never reads an artifact, for no index names it",
    .severity = Severity::kInfo,
    .mend = "remove the prefix directory if nobody is compiling into it",
};
const Check kVllmMoved{
    .id = "vllm.moved",
    .title = "vLLM's index names artifacts below another directory than this one",
    .severity = Severity::kWarning,
    .mend = "put the cache back to where it was written, or remove the prefix directory",
};
const Check kVllmUnpacked{
    .id = "vllm.unpacked-keys",
    .title = "an unpacked artifact doesn't hold exactly one AOTAutograd key",
    .severity = Severity::kError,
    .mend = "move the prefix directory away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmFactors{
    .id = "vllm.factors",
    .title = "a directory of vLLM isn't the one that its factors stand for",
    .severity = Severity::kError,
    .mend = "move the prefix directory away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmSecret{
    .id = "vllm.secret",
    .title = "a secret stands in clear in a cached file",
    .severity = Severity::kWarning,
    .mend = "change the secret, remove the directory, and don't hand the cache on",
};
const Check kVllmModel{
    .id = "vllm.model",
    .title = "a compiled model of vLLM can't be read",
    .severity = Severity::kWarning,
    .mend = "move the file away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmModelDigest{
    .id = "vllm.model-digest",
    .title = "a compiled part of vLLM's model isn't what its digest says",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair`; vLLM compiles again",
};
const Check kVllmModelEmpty{
    .id = "vllm.model-empty",
    .title = "vLLM's model has a table of compiled parts with nothing in it",
    .severity = Severity::kWarning,
    .mend = "move the file away with `cachetool verify --repair`; vLLM compiles again",
};

}  // namespace checks

namespace {

constexpr std::array kChecks{
    &checks::kVllmIndex,       &checks::kVllmArtifactMissing,
    &checks::kVllmArtifactKey, &checks::kVllmArtifactUnlisted,
    &checks::kVllmMoved,       &checks::kVllmUnpacked,
    &checks::kVllmFactors,     &checks::kVllmSecret,
    &checks::kVllmModel,       &checks::kVllmModelDigest,
    &checks::kVllmModelEmpty,
};

}  // namespace

CheckGroup vllm_checks() {
  return {"vLLM", kChecks};
}

}  // namespace cachetool::verify
