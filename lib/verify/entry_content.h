#pragma once

#include <cstdint>
#include <vector>

#include "torch/decode.h"
#include "verify/pickle_problems.h"

namespace cachetool::verify {

/// What is wrong with the fields of a decoded entry: missing, of another type, expressions that torch
/// evaluates outside the closed grammar of pickle/sym_expr.h, constants that can't be restored. `base` is
/// where the entry begins in its file. One problem for each check, which names the first case and counts the
/// rest.
std::vector<Problem> content_problems(const torch::Decoded& decoded, const torch::Release& release,
                                      std::uint64_t base);

}  // namespace cachetool::verify
