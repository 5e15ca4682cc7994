#include "base/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace cachetool {

std::size_t cpu_count() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&allowed)));
  }
  // More processors than the fixed set has room for.
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

}  // namespace cachetool
