#pragma once

#include <string>
#include <vector>

#include "verify/elf_tables.h"

namespace cachetool::verify {

/// The names that a library defines for others, as the loader finds them. Reads its symbol table and nothing
/// else. Errors: kMalformed where the tables contradict themselves, limits, those of reading.
Expected<std::vector<std::string>> exported_names(const FileInput& input, const ElfTables& tables);

}  // namespace cachetool::verify
