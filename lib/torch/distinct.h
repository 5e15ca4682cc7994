#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pickle/value.h"

namespace cachetool::torch {

/// What a set made of `elements` holds: of elements that Python calls equal (1, 1.0 and True) the first, in
/// order. Nothing when all are distinct anyway, when one can't be hashed, or when telling would take too many
/// steps.
std::optional<std::vector<pickle::Value>> distinct(std::span<const pickle::Value> elements);

/// What a dict holds after `given` and then `added` were put in: the first of equal keys, the last of their
/// values. The pairs one after the other when a key can't be hashed.
std::vector<pickle::Pair> merge_pairs(std::span<const pickle::Pair> given,
                                      std::span<const pickle::Pair> added);

}  // namespace cachetool::torch
