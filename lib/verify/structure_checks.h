#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// ELF files, cubins, JSON, zip and frames: is the file whole and of its kind.
CheckGroup structure_checks();

}  // namespace cachetool::verify
