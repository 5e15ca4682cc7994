#pragma once

#include "base/file_system.h"
#include "base/host_system.h"
#include "store/environment.h"
#include "verify/target_machine.h"

namespace cachetool::verify {

/// This machine: its processor, the GPUs that NVIDIA's driver lists, and the torch package that this user's
/// Python would import (see find_software).
HostFacts read_host_facts(FileSystem& fs, HostSystem& host, const store::Environment& environment);

}  // namespace cachetool::verify
