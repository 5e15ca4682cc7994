#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_features.h"
#include "base/error.h"

namespace cachetool::container {

/// Where code first needs an extension of the instruction set.
struct FeatureUse {
  CpuFeature feature;
  std::uint64_t offset = 0;   ///< of the instruction, in the file
  std::string_view function;  ///< that it lies in; empty where the file doesn't say
};

/// What the machine code of a shared object needs of the processor.
struct X86Code {
  CpuFeatures needs;             ///< beyond what every x86-64 has
  std::vector<FeatureUse> uses;  ///< one per feature of `needs`, in the order of the file
  bool asks_processor = false;   ///< it executes CPUID or XGETBV: it may choose its code at run time
  std::uint64_t instructions = 0;
  std::uint64_t undecoded_bytes = 0;  ///< in executable sections, no instruction (data, or not known)
};

struct X86CodeLimits {
  std::uint64_t max_code_bytes = std::uint64_t{256} << 20;
};

/// Decodes the executable sections of a 64-bit x86 ELF file from their first byte to their last, starting
/// afresh at every function that the symbols name. Instructions that older processors take for a no-op
/// (endbr64, prefetch hints) or decode as another one with the same result where compilers use it (tzcnt as
/// rep bsf) need nothing. Views point into `bytes`. Errors: those of read_elf_header; kUnsupported for other
/// machines; kLimitWork for more code than `limits` allow.
Expected<X86Code> read_x86_code(std::string_view bytes, const X86CodeLimits& limits = {});

}  // namespace cachetool::container
