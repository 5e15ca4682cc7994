#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "container/elf_layout.h"

namespace cachetool::container {

inline constexpr std::uint64_t kElfProgramSize = 56;  ///< bytes of a row of the program header table

/// How long the file must be for all that its tables name to lie inside: header, tables, segments, sections.
/// `programs` is the program header table; rows that are cut off don't count. 2^64 - 1 where an end is beyond
/// any file.
std::uint64_t elf_extent(const ElfHeader& header, std::string_view programs,
                         const std::vector<ElfSection>& sections);

}  // namespace cachetool::container
