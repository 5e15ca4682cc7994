#pragma once

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Links, FIFOs, sockets and devices below a root: the walk leaves them out, torch would open them. Follows
/// scan's `owner.link`.
void check_strange_places(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
