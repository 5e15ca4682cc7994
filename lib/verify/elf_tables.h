#pragma once

#include <optional>
#include <vector>

#include "container/elf_layout.h"
#include "verify/file_input.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Header and header tables of an ELF file whose size fits them. Nothing else of it was read.
struct ElfTables {
  container::ElfHeader header;
  std::vector<container::ElfSection> sections;
};

/// Reads them. What is wrong goes to `report` as one finding (file.empty, elf.damaged, file.truncated;
/// file.trailing, which leaves the file readable); nothing is returned where the rest can't be trusted. At
/// Depth::kQuick only the header is read and `sections` stays empty. Errors: those of reading.
Expected<std::optional<ElfTables>> read_elf_tables(FileInput& input, FileReport& report);

}  // namespace cachetool::verify
