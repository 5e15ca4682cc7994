#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

inline constexpr std::uint16_t kMachineX86_64 = 62;
inline constexpr std::uint16_t kMachineAArch64 = 183;
inline constexpr std::uint16_t kMachineCuda = 190;

/// The fixed part of a 64-bit little-endian ELF file (the only kind that compilers of these caches write).
struct ElfHeader {
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;  ///< 1 relocatable, 2 executable (cubins), 3 shared object
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t program_offset = 0;
  std::uint16_t program_count = 0;
  std::uint64_t section_offset = 0;
  std::uint16_t section_count = 0;
  std::uint16_t section_names = 0;

  /// Bytes that the file must at least have for its header tables to lie inside it.
  std::uint64_t tables_end() const;
  /// Compute capability of a cubin, such as 90 for sm_90; none for other machines. The place of these bits
  /// moved with CUDA 13: ABI version 7 has them in bits 0 to 7 of the flags, version 8 in bits 8 to 15.
  std::optional<std::uint32_t> cuda_architecture() const;
};

inline constexpr std::size_t kElfHeaderSize = 64;

/// True when `bytes` starts as an ELF file does.
bool looks_like_elf(std::string_view bytes);

/// Reads the header from the first 64 bytes of a file. Errors: kTruncated, kMalformed when it is no ELF file,
/// kUnsupported for 32 bits or big endian.
Expected<ElfHeader> read_elf_header(std::string_view bytes);

/// What an ELF file says of itself. Views point into the bytes that were read.
struct ElfFile {
  ElfHeader header;
  /// Bytes that the file must have: header tables, segments and sections. A compiler that was killed leaves
  /// less.
  std::uint64_t expected_size = 0;
  bool whole = false;  ///< all of that is there, and there is a section table
  std::string_view soname;
  std::vector<std::string_view> needed;
  std::vector<std::string_view> run_path;   ///< DT_RUNPATH and DT_RPATH as written
  std::vector<std::string_view> exported;   ///< defined global and weak dynamic symbols
  std::vector<std::string_view> undefined;  ///< dynamic symbols that others must define
  std::vector<std::string_view> sections;   ///< names

  bool exports(std::string_view symbol) const;
};

struct ElfLimits {
  std::uint64_t max_symbols = std::uint64_t{1} << 20;
};

/// Reads sections and dynamic symbols of a whole file in memory. A file that is cut short is no error:
/// `whole` is false and lists hold what lies inside. Errors: as `read_elf_header`; kMalformed with the offset
/// where a table contradicts itself; kLimitWork for more symbols than `limits` allow. Linear in the file's
/// size.
Expected<ElfFile> read_elf(std::string_view bytes, const ElfLimits& limits = {});

}  // namespace cachetool::container
