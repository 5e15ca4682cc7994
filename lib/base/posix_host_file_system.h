#pragma once

#include <memory>

#include "base/host_system.h"

namespace cachetool {

/// This machine.
std::unique_ptr<HostSystem> make_posix_host();

}  // namespace cachetool
