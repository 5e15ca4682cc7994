#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "container/elf_layout.h"

namespace cachetool::container {

/// A version that another library must define, such as GLIBC_2.34 of libc.so.6 (DT_VERNEED).
struct VersionNeed {
  std::string_view library;
  std::string_view version;
  bool weak = false;  ///< the loader goes on without it
};

/// A symbol that somebody else must define.
struct ImportedSymbol {
  std::string_view name;
  std::string_view library;  ///< from which it was linked; empty for a symbol without a version
  std::string_view version;
  bool weak = false;  ///< stays null when nobody defines it
};

/// A symbol that others may use.
struct ExportedSymbol {
  std::string_view name;
  std::string_view version;  ///< empty for one without a version
};

/// What a shared object says to the loader. Views point into the tables it was read from.
struct ElfDynamic {
  std::string_view soname;
  std::vector<std::string_view> needed;
  std::vector<std::string_view> run_path;  ///< DT_RUNPATH and DT_RPATH as written
  std::vector<VersionNeed> version_needs;
  std::vector<std::string_view> versions;  ///< that it defines (DT_VERDEF), without the base version
  std::vector<ImportedSymbol> imports;
  std::vector<ExportedSymbol> exports;
  bool chooses_at_load = false;  ///< defines a function whose code the loader chooses (STT_GNU_IFUNC)
};

/// The sections that this is read from; those that a file lacks are empty.
struct DynamicTables {
  std::string_view dynamic;
  std::string_view symbols;
  std::string_view names;          ///< strings of all of them
  std::string_view version_index;  ///< a number per symbol
  std::string_view version_needs;
  std::string_view version_definitions;
};

/// Places of those sections, for a reader that doesn't want the whole file in memory.
struct DynamicSections {
  ElfSection dynamic;
  ElfSection symbols;
  ElfSection names;
  ElfSection version_index;
  ElfSection version_needs;
  ElfSection version_definitions;
};

/// Finds the sections; those that are not there have size 0. Errors: kMalformed when they use different
/// string tables.
Expected<DynamicSections> find_dynamic_sections(const std::vector<ElfSection>& sections);

/// Reads the tables. Linear in their size. Errors: kMalformed where one contradicts itself, kLimitWork beyond
/// the symbols of `limits` or where names overlap more than a linker writes them.
Expected<ElfDynamic> read_dynamic(const DynamicTables& tables, const ElfLimits& limits = {});

/// The same from a whole file in memory. Errors: also those of read_elf_header.
Expected<ElfDynamic> read_elf_dynamic(std::string_view bytes, const ElfLimits& limits = {});

}  // namespace cachetool::container
