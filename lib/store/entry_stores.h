#pragma once

#include "base/file_system.h"
#include "store/cache_set.h"

namespace cachetool::store {

/// Fills `set.stores`: the root itself where it is an Inductor cache, the nested ones of vLLM and of fresh
/// cache directories, or the single file. What can't be listed is left out; the walk reports it.
void find_entry_stores(FileSystem& fs, CacheSet& set);

}  // namespace cachetool::store
