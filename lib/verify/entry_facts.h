#pragma once

#include <memory>

#include "base/error.h"
#include "torch/decode.h"
#include "torch/release.h"
#include "verify/facts.h"

namespace cachetool::verify {

/// What relations need to know of an entry; null when it is neither a graph nor an AOTAutograd entry. Copies
/// at most a few times the entry's size: kLimitMemory when shared values would come to more.
Expected<std::unique_ptr<EntryFacts>> entry_facts(const torch::Decoded& decoded,
                                                  const torch::Release& release);

}  // namespace cachetool::verify
