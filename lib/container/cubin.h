#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "container/elf.h"

namespace cachetool::container {

/// What GPU code was compiled for.
enum class CudaVariant : std::uint8_t {
  kPlain,         ///< "sm_90": also runs on later minor revisions of the same major one
  kFamily,        ///< "sm_100f": on the later members of its family
  kArchitecture,  ///< "sm_90a": on that very architecture only
  kUnknown,       ///< the file doesn't say
};

struct CudaTarget {
  std::uint32_t number = 0;  ///< 10 × major + minor
  CudaVariant variant = CudaVariant::kUnknown;

  std::uint32_t major() const { return number / 10; }
  std::uint32_t minor() const { return number % 10; }
  /// "sm_90a"; without a suffix where the variant isn't known.
  std::string text() const;
  friend bool operator==(const CudaTarget&, const CudaTarget&) = default;
};

/// Parses "sm_90", "sm_90a", "sm_100f" and "90"; nothing for anything else.
std::optional<CudaTarget> parse_cuda_target(std::string_view text);

/// Whether code for `code` runs on a device of architecture `device` (whose variant doesn't matter): the same
/// major revision and no later minor one; code for one architecture only on that. CUDA C++ Programming Guide,
/// "Binary compatibility" and "Architecture-specific features". kUnknown counts as kPlain.
bool runs_on(const CudaTarget& code, const CudaTarget& device);

struct CubinKernel {
  std::string_view name;
  std::optional<std::uint32_t> threads;  ///< per block that it was compiled for (.reqntid, .maxntid)
  std::uint64_t shared_bytes = 0;        ///< static shared memory, what the driver reserves included
};

/// A cubin: GPU code of one architecture.
struct Cubin {
  CudaTarget target;
  std::vector<CubinKernel> kernels;  ///< functions that a host can launch, in the order of the symbol table

  const CubinKernel* find(std::string_view name) const;
};

/// Reads a cubin. Its architecture is in the ELF flags: bits 0 to 7 up to CUDA 12 (ABI version 7; bit 11 set
/// for "a"), bits 8 to 15 from CUDA 13 on (version 8), where only the note of the tool that made it tells
/// "sm_90a" from "sm_90". Linear in the file's size. Errors: those of read_elf_header; kUnsupported for
/// another machine; kMalformed where tables lead outside; kLimitWork.
Expected<Cubin> read_cubin(std::string_view bytes);

}  // namespace cachetool::container
