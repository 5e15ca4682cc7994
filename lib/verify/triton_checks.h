#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Triton's kernel directories.
CheckGroup triton_checks();

namespace checks {

extern const Check kTritonHash;
extern const Check kTritonName;
extern const Check kTritonChildMissing;
extern const Check kTritonGroupPath;
extern const Check kTritonMoved;
extern const Check kTritonUnfinished;
extern const Check kTritonArchitecture;

}  // namespace checks

}  // namespace cachetool::verify
