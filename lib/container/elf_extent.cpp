#include "container/elf_extent.h"

#include <algorithm>

namespace cachetool::container {
namespace {

std::uint64_t end_of(std::uint64_t offset, std::uint64_t size) {
  return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

}  // namespace

std::uint64_t elf_extent(const ElfHeader& header, std::string_view programs,
                         const std::vector<ElfSection>& sections) {
  std::uint64_t end = header.tables_end();
  for (std::uint64_t at = 0; at + kElfProgramSize <= programs.size(); at += kElfProgramSize) {
    end = std::max(end, end_of(load_little<std::uint64_t>(programs, at + 8),
                               load_little<std::uint64_t>(programs, at + 32)));
  }
  for (const ElfSection& section : sections) {
    constexpr std::uint32_t kNothing = 0;
    if (section.type == kNothing || section.type == kNoBitsSection) continue;
    end = std::max(end, end_of(section.offset, section.size));
  }
  return end;
}

}  // namespace cachetool::container
