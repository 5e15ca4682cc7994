#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::store {

/// What an autotune result of the kernel module `<stem>.py` may be called, beside it: one name for releases
/// up to 2.7 and one per known build of later ones, for an empty cache key tag.
/// torch/_inductor/runtime/autotune_cache.py: the SHA-256 of the module's file name and the tag, hashed once
/// more with torch_key from 2.8 on.
std::vector<std::string> best_config_names(std::string_view stem);

}  // namespace cachetool::store
