#include "container/elf_layout.h"

namespace cachetool::container {

std::vector<ElfSection> read_elf_sections(const ElfHeader& header, std::string_view table) {
  std::vector<ElfSection> sections;
  sections.reserve(header.section_count);
  for (std::uint64_t i = 0; i < header.section_count; ++i) {
    const std::uint64_t at = i * kElfSectionSize;
    if (!lies_inside(table, at, kElfSectionSize)) break;
    ElfSection& section = sections.emplace_back();
    section.name = load_little<std::uint32_t>(table, at);
    section.type = load_little<std::uint32_t>(table, at + 4);
    section.flags = load_little<std::uint64_t>(table, at + 8);
    section.address = load_little<std::uint64_t>(table, at + 16);
    section.offset = load_little<std::uint64_t>(table, at + 24);
    section.size = load_little<std::uint64_t>(table, at + 32);
    section.link = load_little<std::uint32_t>(table, at + 40);
    section.entry_size = load_little<std::uint64_t>(table, at + 56);
  }
  return sections;
}

std::vector<ElfSection> read_elf_sections_of(const ElfHeader& header, std::string_view bytes) {
  if (!lies_inside(bytes, header.section_offset, header.section_count * kElfSectionSize)) return {};
  return read_elf_sections(header, bytes.substr(header.section_offset));
}

std::string_view section_bytes(std::string_view bytes, const ElfSection& section) {
  if (section.type == kNoBitsSection || !lies_inside(bytes, section.offset, section.size)) return {};
  return bytes.substr(section.offset, section.size);
}

Expected<std::string_view> ElfStrings::at(std::uint64_t offset) {
  constexpr std::uint64_t kStepsPerByte = 16;
  if (offset >= table_.size())
    return fail(ErrorCode::kMalformed, "a name lies outside the ELF file's string table", {}, offset);
  const std::size_t end = table_.find('\0', offset);
  if (end == std::string_view::npos)
    return fail(ErrorCode::kMalformed, "a name in the ELF file's string table has no end", {}, offset);
  steps_ += end - offset;
  if (steps_ > table_.size() * kStepsPerByte)
    return fail(ErrorCode::kLimitWork, "names in the ELF file's string table overlap too much");
  return table_.substr(offset, end - offset);
}

}  // namespace cachetool::container
