#include "container/x86_code.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "container/elf_layout.h"

namespace cachetool::container {
namespace {

using F = CpuFeature;

/// What an instruction set of Zydis stands for. AVX-512 on 128 and 256 bits also needs VL; the forms called
/// 128N and SCALAR don't.
CpuFeatures features_of(ZydisISASet set) {
  switch (set) {
    case ZYDIS_ISA_SET_SSE3:
    case ZYDIS_ISA_SET_SSE3X87:
      return {F::kSse3};
    case ZYDIS_ISA_SET_SSSE3:
    case ZYDIS_ISA_SET_SSSE3MMX:
      return {F::kSsse3};
    case ZYDIS_ISA_SET_SSE4:
      return {F::kSse41};
    case ZYDIS_ISA_SET_SSE42:
      return {F::kSse42};
    case ZYDIS_ISA_SET_POPCNT:
      return {F::kPopcnt};
    case ZYDIS_ISA_SET_MOVBE:
      return {F::kMovbe};
    case ZYDIS_ISA_SET_LZCNT:
      return {F::kLzcnt};
    case ZYDIS_ISA_SET_AES:
      return {F::kAes};
    case ZYDIS_ISA_SET_PCLMULQDQ:
      return {F::kPclmulqdq};
    case ZYDIS_ISA_SET_SHA:
      return {F::kSha};
    case ZYDIS_ISA_SET_AVX:
      return {F::kAvx};
    case ZYDIS_ISA_SET_AVXAES:
      return {F::kAvx, F::kAes};
    case ZYDIS_ISA_SET_F16C:
      return {F::kF16c};
    case ZYDIS_ISA_SET_FMA:
      return {F::kFma};
    case ZYDIS_ISA_SET_AVX2:
    case ZYDIS_ISA_SET_AVX2GATHER:
      return {F::kAvx2};
    case ZYDIS_ISA_SET_BMI1:
      return {F::kBmi1};
    case ZYDIS_ISA_SET_BMI2:
      return {F::kBmi2};
    case ZYDIS_ISA_SET_GFNI:
      return {F::kGfni};
    case ZYDIS_ISA_SET_AVX_GFNI:
      return {F::kAvx, F::kGfni};
    case ZYDIS_ISA_SET_VAES:
      return {F::kAvx, F::kVaes};
    case ZYDIS_ISA_SET_VPCLMULQDQ:
      return {F::kAvx, F::kVpclmulqdq};
    case ZYDIS_ISA_SET_AVX_VNNI:
      return {F::kAvxVnni};
    case ZYDIS_ISA_SET_AVX512F_512:
    case ZYDIS_ISA_SET_AVX512F_128N:
    case ZYDIS_ISA_SET_AVX512F_KOP:
    case ZYDIS_ISA_SET_AVX512F_SCALAR:
      return {F::kAvx512F};
    case ZYDIS_ISA_SET_AVX512F_128:
    case ZYDIS_ISA_SET_AVX512F_256:
      return {F::kAvx512F, F::kAvx512Vl};
    case ZYDIS_ISA_SET_AVX512CD_512:
      return {F::kAvx512F, F::kAvx512Cd};
    case ZYDIS_ISA_SET_AVX512CD_128:
    case ZYDIS_ISA_SET_AVX512CD_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Cd};
    case ZYDIS_ISA_SET_AVX512BW_512:
    case ZYDIS_ISA_SET_AVX512BW_128N:
    case ZYDIS_ISA_SET_AVX512BW_KOP:
      return {F::kAvx512F, F::kAvx512Bw};
    case ZYDIS_ISA_SET_AVX512BW_128:
    case ZYDIS_ISA_SET_AVX512BW_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Bw};
    case ZYDIS_ISA_SET_AVX512DQ_512:
    case ZYDIS_ISA_SET_AVX512DQ_128N:
    case ZYDIS_ISA_SET_AVX512DQ_KOP:
    case ZYDIS_ISA_SET_AVX512DQ_SCALAR:
      return {F::kAvx512F, F::kAvx512Dq};
    case ZYDIS_ISA_SET_AVX512DQ_128:
    case ZYDIS_ISA_SET_AVX512DQ_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Dq};
    case ZYDIS_ISA_SET_AVX512_IFMA_512:
      return {F::kAvx512F, F::kAvx512Ifma};
    case ZYDIS_ISA_SET_AVX512_IFMA_128:
    case ZYDIS_ISA_SET_AVX512_IFMA_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Ifma};
    case ZYDIS_ISA_SET_AVX512_VBMI_512:
      return {F::kAvx512F, F::kAvx512Vbmi};
    case ZYDIS_ISA_SET_AVX512_VBMI_128:
    case ZYDIS_ISA_SET_AVX512_VBMI_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Vbmi};
    case ZYDIS_ISA_SET_AVX512_VBMI2_512:
      return {F::kAvx512F, F::kAvx512Vbmi2};
    case ZYDIS_ISA_SET_AVX512_VBMI2_128:
    case ZYDIS_ISA_SET_AVX512_VBMI2_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Vbmi2};
    case ZYDIS_ISA_SET_AVX512_VNNI_512:
      return {F::kAvx512F, F::kAvx512Vnni};
    case ZYDIS_ISA_SET_AVX512_VNNI_128:
    case ZYDIS_ISA_SET_AVX512_VNNI_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Vnni};
    case ZYDIS_ISA_SET_AVX512_BITALG_512:
      return {F::kAvx512F, F::kAvx512Bitalg};
    case ZYDIS_ISA_SET_AVX512_BITALG_128:
    case ZYDIS_ISA_SET_AVX512_BITALG_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Bitalg};
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_512:
      return {F::kAvx512F, F::kAvx512Vpopcntdq};
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_128:
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Vpopcntdq};
    case ZYDIS_ISA_SET_AVX512_BF16_512:
      return {F::kAvx512F, F::kAvx512Bf16};
    case ZYDIS_ISA_SET_AVX512_BF16_128:
    case ZYDIS_ISA_SET_AVX512_BF16_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Bf16};
    case ZYDIS_ISA_SET_AVX512_FP16_512:
    case ZYDIS_ISA_SET_AVX512_FP16_128N:
    case ZYDIS_ISA_SET_AVX512_FP16_SCALAR:
      return {F::kAvx512F, F::kAvx512Fp16};
    case ZYDIS_ISA_SET_AVX512_FP16_128:
    case ZYDIS_ISA_SET_AVX512_FP16_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Fp16};
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_512:
      return {F::kAvx512F, F::kAvx512Vp2intersect};
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_128:
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kAvx512Vp2intersect};
    case ZYDIS_ISA_SET_AVX512_GFNI_512:
      return {F::kAvx512F, F::kGfni};
    case ZYDIS_ISA_SET_AVX512_GFNI_128:
    case ZYDIS_ISA_SET_AVX512_GFNI_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kGfni};
    case ZYDIS_ISA_SET_AVX512_VAES_512:
      return {F::kAvx512F, F::kVaes};
    case ZYDIS_ISA_SET_AVX512_VAES_128:
    case ZYDIS_ISA_SET_AVX512_VAES_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kVaes};
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_512:
      return {F::kAvx512F, F::kVpclmulqdq};
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_128:
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_256:
      return {F::kAvx512F, F::kAvx512Vl, F::kVpclmulqdq};
    case ZYDIS_ISA_SET_AMX_TILE:
      return {F::kAmxTile};
    case ZYDIS_ISA_SET_AMX_INT8:
      return {F::kAmxTile, F::kAmxInt8};
    case ZYDIS_ISA_SET_AMX_BF16:
      return {F::kAmxTile, F::kAmxBf16};
    default:
      return {};
  }
}

struct Function {
  std::uint64_t address = 0;
  std::string_view name;
};

/// Functions that the symbol tables name, by address; one name per address.
std::vector<Function> functions_of(std::string_view bytes, const std::vector<ElfSection>& sections) {
  constexpr std::uint64_t kSymbolSize = 24;
  constexpr unsigned kFunction = 2, kIndirect = 10;
  std::vector<Function> functions;
  bool seen[2] = {false, false};
  for (const ElfSection& section : sections) {
    if (section.type != kSymbolsSection && section.type != kDynamicSymbolsSection) continue;
    bool& once = seen[section.type == kSymbolsSection ? 0 : 1];
    if (once || section.link >= sections.size()) continue;
    once = true;
    const std::string_view table = section_bytes(bytes, section);
    ElfStrings names(section_bytes(bytes, sections[section.link]));
    for (std::uint64_t at = kSymbolSize; lies_inside(table, at, kSymbolSize); at += kSymbolSize) {
      const unsigned type = load_little<std::uint8_t>(table, at + 4) & 0xfU;
      if (type != kFunction && type != kIndirect) continue;
      if (load_little<std::uint16_t>(table, at + 6) == 0) continue;  // defined elsewhere
      functions.push_back({load_little<std::uint64_t>(table, at + 8),
                           names.at(load_little<std::uint32_t>(table, at)).value_or(std::string_view{})});
    }
  }
  const auto before = [](const Function& a, const Function& b) {
    return a.address != b.address ? a.address < b.address : a.name < b.name;
  };
  std::sort(functions.begin(), functions.end(), before);
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
  return functions;
}

class Sweep {
 public:
  Sweep(std::string_view bytes, std::vector<Function> functions)
      : bytes_(bytes), functions_(std::move(functions)) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  /// Stretch by stretch, so that an instruction never reaches across the start of a function.
  void section(const ElfSection& section) {
    const auto by_address = [](const Function& function, std::uint64_t address) {
      return function.address < address;
    };
    auto next = std::lower_bound(functions_.begin(), functions_.end(), section.address, by_address);
    std::string_view function;
    for (std::uint64_t at = 0; at < section.size;) {
      for (; next != functions_.end() && next->address - section.address == at; ++next) function = next->name;
      std::uint64_t end = section.size;
      if (next != functions_.end()) end = std::min(end, next->address - section.address);
      stretch(section.offset + at, section.offset + end, function);
      at = end;
    }
  }

  X86Code take() { return std::move(code_); }

 private:
  void stretch(std::uint64_t at, std::uint64_t end, std::string_view function) {
    ZydisDecodedInstruction instruction;
    while (at < end) {
      if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder_, nullptr, bytes_.data() + at, end - at,
                                                    &instruction))) {
        ++code_.undecoded_bytes;
        ++at;
        continue;
      }
      ++code_.instructions;
      note(instruction, at, function);
      at += instruction.length;
    }
  }

  void note(const ZydisDecodedInstruction& instruction, std::uint64_t at, std::string_view function) {
    if (instruction.mnemonic == ZYDIS_MNEMONIC_CPUID || instruction.mnemonic == ZYDIS_MNEMONIC_XGETBV)
      code_.asks_processor = true;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_TZCNT) return;
    bool& seen = seen_[instruction.meta.isa_set];
    if (seen) return;
    seen = true;
    const CpuFeatures features = features_of(instruction.meta.isa_set);
    for (std::size_t i = 0; i < kCpuFeatureCount; ++i) {
      const auto feature = static_cast<CpuFeature>(i);
      if (!features.has(feature) || code_.needs.has(feature)) continue;
      code_.needs.add(feature);
      code_.uses.push_back({feature, at, function});
    }
  }

  std::string_view bytes_;
  std::vector<Function> functions_;
  ZydisDecoder decoder_;
  std::array<bool, ZYDIS_ISA_SET_MAX_VALUE + 1> seen_{};
  X86Code code_;
};

}  // namespace

Expected<X86Code> read_x86_code(std::string_view bytes, const X86CodeLimits& limits) {
  const auto header = read_elf_header(bytes);
  if (!header) return tl::unexpected(header.error());
  if (header->machine != kMachineX86_64)
    return fail(ErrorCode::kUnsupported, "machine code of another machine than x86-64", {}, 18);
  const std::vector<ElfSection> sections = read_elf_sections_of(*header, bytes);
  Sweep sweep(bytes, functions_of(bytes, sections));
  // Sections of a real file do not overlap.
  std::uint64_t left = std::min<std::uint64_t>(limits.max_code_bytes, bytes.size());
  for (const ElfSection& section : sections) {
    if (section.type != kProgramSection || (section.flags & kExecutableFlag) == 0) continue;
    if (section_bytes(bytes, section).empty()) continue;
    if (section.size > left) {
      return fail(ErrorCode::kLimitWork,
                  "more machine code than the limit, or executable sections that overlap");
    }
    left -= section.size;
    sweep.section(section);
  }
  return sweep.take();
}

}  // namespace cachetool::container
