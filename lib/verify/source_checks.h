#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// Wrapper and kernel modules, C++ sources, `.best_config`.
CheckGroup source_checks();

namespace checks {

extern const Check kModuleName;
extern const Check kCppSourceName;
extern const Check kHeaderName;
extern const Check kBestConfigName;
extern const Check kKernelPerf;

}  // namespace checks
}  // namespace cachetool::verify
