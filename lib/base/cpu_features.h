#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachetool {

/// Extensions of an instruction set that compiled kernels may need. One list for all architectures; names are
/// those of /proc/cpuinfo ("avx512_bf16", "asimd").
enum class CpuFeature : std::uint8_t {
  // x86-64, up to AVX2
  kSse3,
  kSsse3,
  kSse41,
  kSse42,
  kPopcnt,
  kMovbe,
  kLzcnt,
  kAes,
  kPclmulqdq,
  kSha,
  kAvx,
  kF16c,
  kFma,
  kAvx2,
  kBmi1,
  kBmi2,
  kGfni,
  kVaes,
  kVpclmulqdq,
  kAvxVnni,
  // x86-64, AVX-512
  kAvx512F,
  kAvx512Cd,
  kAvx512Bw,
  kAvx512Dq,
  kAvx512Vl,
  kAvx512Ifma,
  kAvx512Vbmi,
  kAvx512Vbmi2,
  kAvx512Vnni,
  kAvx512Bitalg,
  kAvx512Vpopcntdq,
  kAvx512Bf16,
  kAvx512Fp16,
  kAvx512Vp2intersect,
  // x86-64, AMX
  kAmxTile,
  kAmxInt8,
  kAmxBf16,
  kAmxFp16,
  // aarch64
  kAsimd,
  kAsimdHp,
  kAsimdDp,
  kArmBf16,
  kI8mm,
  kSve,
  kSve2,
};
inline constexpr std::size_t kCpuFeatureCount = static_cast<std::size_t>(CpuFeature::kSve2) + 1;

/// The name of /proc/cpuinfo: "avx512bw", "avx512_vnni", "amx_bf16". Two that it calls otherwise have the
/// name of their instruction: "lzcnt" (abm) and "sse3" (pni).
std::string_view cpu_feature_name(CpuFeature feature);
/// The feature of that name; empty when there is none.
std::optional<CpuFeature> parse_cpu_feature(std::string_view name);

/// A set of features.
class CpuFeatures {
 public:
  CpuFeatures() = default;
  CpuFeatures(std::initializer_list<CpuFeature> features) {
    for (const CpuFeature feature : features) add(feature);
  }
  void add(CpuFeature feature) { bits_.set(static_cast<std::size_t>(feature)); }
  bool has(CpuFeature feature) const { return bits_.test(static_cast<std::size_t>(feature)); }
  bool has_all(const CpuFeatures& others) const { return (others.bits_ & ~bits_).none(); }
  bool empty() const { return bits_.none(); }
  /// What is in this set and not in `others`: of what a file needs, what a machine lacks.
  CpuFeatures without(const CpuFeatures& others) const {
    CpuFeatures rest;
    rest.bits_ = bits_ & ~others.bits_;
    return rest;
  }
  CpuFeatures with(const CpuFeatures& others) const {
    CpuFeatures both;
    both.bits_ = bits_ | others.bits_;
    return both;
  }
  /// Names in the order of CpuFeature.
  std::vector<std::string_view> names() const;
  friend bool operator==(const CpuFeatures&, const CpuFeatures&) = default;

 private:
  std::bitset<kCpuFeatureCount> bits_;
};

/// What CPUID and XGETBV say, as far as features are in it. All zero: nothing.
struct X86Registers {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint32_t extended1_ecx = 0;  ///< leaf 0x80000001
  std::uint64_t xcr0 = 0;           ///< register states that the operating system saves; 0 without OSXSAVE
};

/// A processor as programs may use it.
struct CpuFacts {
  std::string architecture;  ///< as `uname -m`: "x86_64", "aarch64"
  std::string model;         ///< "AMD EPYC 9575F"; empty where the processor doesn't say
  CpuFeatures usable;        ///< the processor has them and the operating system saves their registers
  CpuFeatures disabled;      ///< the processor has them, the operating system doesn't let programs use them
};

/// Fills `usable` and `disabled` from registers. Intel SDM volume 1, sections 13.3, 14.3 and 15.2: AVX needs
/// XCR0 bits 1 and 2, AVX-512 also 5 to 7, AMX 17 and 18.
void decode_x86_features(const X86Registers& registers, CpuFacts& facts);

/// Fills `usable` from the kernel's AT_HWCAP and AT_HWCAP2 words on aarch64.
void decode_aarch64_features(std::uint64_t hwcap, std::uint64_t hwcap2, CpuFacts& facts);

/// This machine. Asks the processor itself and reads no file; on architectures other than x86-64 and aarch64
/// the sets are empty.
CpuFacts this_cpu();

}  // namespace cachetool
