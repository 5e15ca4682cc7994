#include "verify/elf_tables.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "container/elf_extent.h"
#include "verify/damage.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

/// Part of a file that is known to lie inside it.
Expected<std::string> read_part(const FileInput& input, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  const auto read = input.read_at(offset, bytes);
  if (!read) return tl::unexpected(read.error());
  bytes.resize(*read);
  return bytes;
}

void report_cut(const FileInput& input, FileReport& report, std::uint64_t wanted) {
  report_damage(input, report, checks::kFileTruncated,
                fmt::format("{} of {} bytes are there", input.stat().size, wanted), input.stat().size);
}

}  // namespace

Expected<std::optional<ElfTables>> read_elf_tables(FileInput& input, FileReport& report) {
  std::optional<ElfTables> nothing;
  const std::uint64_t size = input.stat().size;
  if (size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return nothing;
  }
  std::array<char, container::kElfHeaderSize> head{};
  const auto read = input.read_at(0, head);
  if (!read) return tl::unexpected(read.error());
  const auto header = container::read_elf_header({head.data(), *read});
  if (!header) {
    const Check& check =
        header.error().code == ErrorCode::kTruncated ? checks::kFileTruncated : checks::kElfDamaged;
    report_damage(input, report, check, header.error().message, header.error().offset);
    return nothing;
  }
  if (header->tables_end() > size) {
    report_cut(input, report, header->tables_end());
    return nothing;
  }
  ElfTables tables{*header, {}};
  if (input.depth() == Depth::kQuick) return std::optional(std::move(tables));
  auto programs =
      read_part(input, header->program_offset, header->program_count * container::kElfProgramSize);
  if (!programs) return tl::unexpected(std::move(programs.error()));
  auto table = read_part(input, header->section_offset, header->section_count * container::kElfSectionSize);
  if (!table) return tl::unexpected(std::move(table.error()));
  tables.sections = container::read_elf_sections(*header, *table);
  const std::uint64_t extent = container::elf_extent(*header, *programs, tables.sections);
  if (extent > size) {
    report_cut(input, report, extent);
    return nothing;
  }
  report.fine(checks::kElfDamaged);
  // AOTInductor appends large weights to its library.
  const bool may_go_on = input.kind() == store::ArtifactKind::kAotiFile;
  if (extent < size && header->section_count > 0 && !may_go_on) {
    report.found(checks::kFileTrailing,
                 {.message = fmt::format("{} bytes follow what the ELF tables name; nothing reads them",
                                         size - extent),
                  .offset = extent},
                 Severity::kInfo);
  }
  return std::optional(std::move(tables));
}

}  // namespace cachetool::verify
