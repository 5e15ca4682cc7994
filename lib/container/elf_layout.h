#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "container/elf.h"

namespace cachetool::container {

inline constexpr std::uint64_t kElfSectionSize = 64;

// sh_type, sh_flags of the System V ABI and of GNU.
inline constexpr std::uint32_t kProgramSection = 1;
inline constexpr std::uint32_t kSymbolsSection = 2;
inline constexpr std::uint32_t kStringsSection = 3;
inline constexpr std::uint32_t kDynamicSection = 6;
inline constexpr std::uint32_t kNoteSection = 7;
inline constexpr std::uint32_t kNoBitsSection = 8;
inline constexpr std::uint32_t kDynamicSymbolsSection = 11;
inline constexpr std::uint32_t kVersionDefinitionsSection = 0x6ffffffd;
inline constexpr std::uint32_t kVersionNeedsSection = 0x6ffffffe;
inline constexpr std::uint32_t kVersionIndexSection = 0x6fffffff;
inline constexpr std::uint64_t kExecutableFlag = 4;

/// Little-endian unsigned integer at `offset`; the caller has checked that it lies inside.
template <class T>
T load_little(std::string_view bytes, std::uint64_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i > 0; --i) {
    value = static_cast<T>((static_cast<std::uint64_t>(value) << 8) |
                           static_cast<unsigned char>(bytes[offset + i - 1]));
  }
  return value;
}

/// Whether `size` bytes at `offset` lie inside; never overflows.
inline bool lies_inside(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// One row of the section header table, as written.
struct ElfSection {
  std::uint32_t name = 0;  ///< offset into the table of section names
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;
};

/// The rows of a section header table that starts at the first of these bytes; one that is cut off is left
/// out.
std::vector<ElfSection> read_elf_sections(const ElfHeader& header, std::string_view table);
/// The same from a whole file; empty when the table doesn't lie inside.
std::vector<ElfSection> read_elf_sections_of(const ElfHeader& header, std::string_view bytes);

/// The bytes of a section; empty when they don't lie inside the file or the section has none.
std::string_view section_bytes(std::string_view bytes, const ElfSection& section);

/// A string table. Looking for the end of a name costs its length, and names of a hostile file overlap: all
/// look-ups together may take 16 steps per byte of the table.
class ElfStrings {
 public:
  explicit ElfStrings(std::string_view table) : table_(table) {}
  /// The string at `offset`. Errors: kMalformed when it isn't inside the table; kLimitWork.
  Expected<std::string_view> at(std::uint64_t offset);

 private:
  std::string_view table_;
  std::uint64_t steps_ = 0;
};

}  // namespace cachetool::container
