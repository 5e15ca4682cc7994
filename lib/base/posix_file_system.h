#pragma once

#include <memory>

#include "base/file_system.h"

namespace cachetool {

/// The real one.
std::unique_ptr<FileSystem> make_posix_file_system();

}  // namespace cachetool
