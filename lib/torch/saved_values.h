#pragma once

#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "pickle/document.h"
#include "torch/saved_tensors.h"

namespace cachetool::torch {

/// Refuses a pickle of torch.save that would do more than build data, in the policy's words. kUnsupported.
Status refuse_code(const pickle::Document& document, Budget& budget);

/// The values of the dict at a document's root: dicts inside it are followed, their names joined by dots.
/// kWrongType when the root is no dict, kMalformed for a tensor that can't be used and a name that comes
/// twice, kLimitDepth beyond eight dicts inside each other, kLimitMemory for names that don't fit the budget.
Expected<std::vector<SavedValue>> saved_values(const pickle::Document& document, Budget& budget,
                                               const StorageProvider& storages);

}  // namespace cachetool::torch
