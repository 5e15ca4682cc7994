#pragma once

#include <vector>

#include "store/entry_row.h"

namespace cachetool::store {

/// Fills `compile_time_ns` and `claimed_by` so that no compile is counted twice. A graph stands for its own
/// time. An AOTAutograd entry stands for its forward and backward time, which contain those of the graphs
/// that it names, or for theirs where that is more (a graph that was in the cache already makes the entry's
/// time short); each graph is claimed by one entry at most. `rows` are in the order of Source::keys: FX
/// graphs before AOTAutograd entries, sorted by key.
void attribute_compile_time(std::vector<EntryRow>& rows);

}  // namespace cachetool::store
