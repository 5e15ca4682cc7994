#pragma once

#include <cstddef>

namespace cachetool {

/// Processors that this process may use (its affinity mask); at least 1.
std::size_t cpu_count();

}  // namespace cachetool
