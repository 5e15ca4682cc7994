#pragma once

#include "base/file_system.h"
#include "store/source.h"

namespace cachetool::store {

/// Walks the roots of `set` as Source::walk promises. Iterative: an open directory and its listing per level.
Status walk_cache(FileSystem& fs, const CacheSet& set, const WalkOptions& options, ArtifactSink& sink);

}  // namespace cachetool::store
