#pragma once

#include "verify/check.h"

namespace cachetool::verify {

namespace checks {
extern const Check kGraphMissing;
extern const Check kGraphGuards;
extern const Check kFrozenReference;
extern const Check kWrapperDiffers;
extern const Check kWrapperRelocated;
extern const Check kModuleMissing;
extern const Check kCppKernelMissing;
extern const Check kCppLibraryMissing;
extern const Check kCppSourceMissing;
extern const Check kTritonKernelMissing;
extern const Check kStaticKernelMissing;
extern const Check kTritonHidesBundle;
extern const Check kTritonDiffersFromBundle;
extern const Check kAutotuneMissing;
}  // namespace checks

/// What files name of each other, and whether it is there and fits.
CheckGroup reference_checks();

}  // namespace cachetool::verify
