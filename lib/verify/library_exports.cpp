#include "verify/library_exports.h"

#include "container/elf_dynamic.h"

namespace cachetool::verify {
namespace {

Expected<std::string> section_bytes(const FileInput& input, const container::ElfSection& section) {
  constexpr std::uint64_t kMaxTable = std::uint64_t{256} << 20;
  if (section.type == container::kNoBitsSection) return std::string();
  if (section.size > kMaxTable)
    return fail(ErrorCode::kLimitSize, "a symbol table of more than 256 MiB", input.path(), section.offset);
  std::string bytes(section.size, '\0');
  const auto read = input.read_at(section.offset, bytes);
  if (!read) return tl::unexpected(read.error());
  bytes.resize(*read);
  return bytes;
}

}  // namespace

Expected<std::vector<std::string>> exported_names(const FileInput& input, const ElfTables& tables) {
  const auto places = container::find_dynamic_sections(tables.sections);
  if (!places) return tl::unexpected(places.error());
  auto symbols = section_bytes(input, places->symbols);
  if (!symbols) return tl::unexpected(std::move(symbols.error()));
  auto names = section_bytes(input, places->names);
  if (!names) return tl::unexpected(std::move(names.error()));
  container::DynamicTables bytes;
  bytes.symbols = *symbols;
  bytes.names = *names;
  const auto dynamic = container::read_dynamic(bytes);
  if (!dynamic) return tl::unexpected(dynamic.error());
  std::vector<std::string> exported;
  for (const auto& symbol : dynamic->exports) exported.emplace_back(symbol.name);
  return exported;
}

}  // namespace cachetool::verify
