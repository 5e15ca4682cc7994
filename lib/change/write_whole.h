#pragma once

#include <string_view>

#include "base/file_system.h"

namespace cachetool::change {

/// Writes a file that is there whole or not at all, after a power cut too: temporary, synced, renamed, the
/// directory synced. kExists with Replace::kNo when the name is taken. Mode 0600.
Status write_whole(FileSystem& fs, const Directory& dir, const Name& name, std::string_view bytes,
                   Replace replace);

}  // namespace cachetool::change
