#pragma once

#include "base/budget.h"
#include "torch/decode.h"
#include "verify/file_report.h"
#include "verify/options.h"

namespace cachetool::verify {

/// How closely an entry is looked at, beyond what every verify does.
struct EntryScrutiny {
  Depth depth = Depth::kDefault;
  const TargetMachine* target = nullptr;  ///< see Options::machine
};

/// With Depth::kDeep: decodes every tensor of the entry, and compares the GPU code that it carries with the
/// metadata beside it. With a target: compares that code with its GPUs. Linear in the entry's size: where
/// shared values would make it more, the rest is not checkable. Nested pickles draw on `budget`.
void check_entry_deep(const torch::Decoded& decoded, const EntryScrutiny& scrutiny, Budget& budget,
                      FileReport& report);

}  // namespace cachetool::verify
