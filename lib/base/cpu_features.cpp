#include "base/cpu_features.h"

#include <sys/auxv.h>
#include <sys/utsname.h>

#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cachetool {
namespace {

constexpr std::array<std::string_view, kCpuFeatureCount> kNames = {
    "sse3",
    "ssse3",
    "sse4_1",
    "sse4_2",
    "popcnt",
    "movbe",
    "lzcnt",
    "aes",
    "pclmulqdq",
    "sha_ni",
    "avx",
    "f16c",
    "fma",
    "avx2",
    "bmi1",
    "bmi2",
    "gfni",
    "vaes",
    "vpclmulqdq",
    "avx_vnni",
    "avx512f",
    "avx512cd",
    "avx512bw",
    "avx512dq",
    "avx512vl",
    "avx512ifma",
    "avx512vbmi",
    "avx512_vbmi2",
    "avx512_vnni",
    "avx512_bitalg",
    "avx512_vpopcntdq",
    "avx512_bf16",
    "avx512_fp16",
    "avx512_vp2intersect",
    "amx_tile",
    "amx_int8",
    "amx_bf16",
    "amx_fp16",
    "asimd",
    "asimdhp",
    "asimddp",
    "bf16",
    "i8mm",
    "sve",
    "sve2",
};

/// Register states that the operating system has to save for a feature, as bits of XCR0.
enum State : std::uint64_t {
  kNone = 0,
  kYmm = 0x6,
  kZmm = 0xe6,
  kTile = 0x60000,
};

struct Bit {
  std::uint32_t X86Registers::* word;
  int bit;
  CpuFeature feature;
  State state;
};

constexpr Bit kBits[] = {
    {&X86Registers::leaf1_ecx, 0, CpuFeature::kSse3, kNone},
    {&X86Registers::leaf1_ecx, 1, CpuFeature::kPclmulqdq, kNone},
    {&X86Registers::leaf1_ecx, 9, CpuFeature::kSsse3, kNone},
    {&X86Registers::leaf1_ecx, 12, CpuFeature::kFma, kYmm},
    {&X86Registers::leaf1_ecx, 19, CpuFeature::kSse41, kNone},
    {&X86Registers::leaf1_ecx, 20, CpuFeature::kSse42, kNone},
    {&X86Registers::leaf1_ecx, 22, CpuFeature::kMovbe, kNone},
    {&X86Registers::leaf1_ecx, 23, CpuFeature::kPopcnt, kNone},
    {&X86Registers::leaf1_ecx, 25, CpuFeature::kAes, kNone},
    {&X86Registers::leaf1_ecx, 28, CpuFeature::kAvx, kYmm},
    {&X86Registers::leaf1_ecx, 29, CpuFeature::kF16c, kYmm},
    {&X86Registers::leaf7_ebx, 3, CpuFeature::kBmi1, kNone},
    {&X86Registers::leaf7_ebx, 5, CpuFeature::kAvx2, kYmm},
    {&X86Registers::leaf7_ebx, 8, CpuFeature::kBmi2, kNone},
    {&X86Registers::leaf7_ebx, 16, CpuFeature::kAvx512F, kZmm},
    {&X86Registers::leaf7_ebx, 17, CpuFeature::kAvx512Dq, kZmm},
    {&X86Registers::leaf7_ebx, 21, CpuFeature::kAvx512Ifma, kZmm},
    {&X86Registers::leaf7_ebx, 28, CpuFeature::kAvx512Cd, kZmm},
    {&X86Registers::leaf7_ebx, 29, CpuFeature::kSha, kNone},
    {&X86Registers::leaf7_ebx, 30, CpuFeature::kAvx512Bw, kZmm},
    {&X86Registers::leaf7_ebx, 31, CpuFeature::kAvx512Vl, kZmm},
    {&X86Registers::leaf7_ecx, 1, CpuFeature::kAvx512Vbmi, kZmm},
    {&X86Registers::leaf7_ecx, 6, CpuFeature::kAvx512Vbmi2, kZmm},
    {&X86Registers::leaf7_ecx, 8, CpuFeature::kGfni, kNone},
    {&X86Registers::leaf7_ecx, 9, CpuFeature::kVaes, kYmm},
    {&X86Registers::leaf7_ecx, 10, CpuFeature::kVpclmulqdq, kYmm},
    {&X86Registers::leaf7_ecx, 11, CpuFeature::kAvx512Vnni, kZmm},
    {&X86Registers::leaf7_ecx, 12, CpuFeature::kAvx512Bitalg, kZmm},
    {&X86Registers::leaf7_ecx, 14, CpuFeature::kAvx512Vpopcntdq, kZmm},
    {&X86Registers::leaf7_edx, 8, CpuFeature::kAvx512Vp2intersect, kZmm},
    {&X86Registers::leaf7_edx, 22, CpuFeature::kAmxBf16, kTile},
    {&X86Registers::leaf7_edx, 23, CpuFeature::kAvx512Fp16, kZmm},
    {&X86Registers::leaf7_edx, 24, CpuFeature::kAmxTile, kTile},
    {&X86Registers::leaf7_edx, 25, CpuFeature::kAmxInt8, kTile},
    {&X86Registers::leaf7_1_eax, 4, CpuFeature::kAvxVnni, kYmm},
    {&X86Registers::leaf7_1_eax, 5, CpuFeature::kAvx512Bf16, kZmm},
    {&X86Registers::leaf7_1_eax, 21, CpuFeature::kAmxFp16, kTile},
    {&X86Registers::extended1_ecx, 5, CpuFeature::kLzcnt, kNone},
};

#if defined(__x86_64__)

struct Leaf {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

Leaf cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  Leaf result;
  __get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx);
  return result;
}

/// Only valid where CPUID says OSXSAVE: elsewhere the instruction is an illegal one.
std::uint64_t xgetbv() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

X86Registers read_registers() {
  constexpr std::uint32_t kOsxsave = std::uint32_t{1} << 27;
  X86Registers registers;
  registers.leaf1_ecx = cpuid(1).ecx;
  const Leaf seven = cpuid(7);
  registers.leaf7_ebx = seven.ebx;
  registers.leaf7_ecx = seven.ecx;
  registers.leaf7_edx = seven.edx;
  if (seven.eax >= 1) registers.leaf7_1_eax = cpuid(7, 1).eax;
  registers.extended1_ecx = cpuid(0x80000001U).ecx;
  if ((registers.leaf1_ecx & kOsxsave) != 0) registers.xcr0 = xgetbv();
  return registers;
}

std::string brand() {
  constexpr std::uint32_t kFirst = 0x80000002U;
  if (__get_cpuid_max(0x80000000U, nullptr) < kFirst + 2) return {};
  std::array<Leaf, 3> leaves;
  for (std::uint32_t i = 0; i < leaves.size(); ++i) leaves[i] = cpuid(kFirst + i);
  std::array<char, sizeof(leaves)> bytes;
  std::memcpy(bytes.data(), leaves.data(), bytes.size());
  std::string text(bytes.data(), ::strnlen(bytes.data(), bytes.size()));
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

#endif

}  // namespace

std::string_view cpu_feature_name(CpuFeature feature) {
  return kNames[static_cast<std::size_t>(feature)];
}

std::optional<CpuFeature> parse_cpu_feature(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<CpuFeature>(i);
  return std::nullopt;
}

std::vector<std::string_view> CpuFeatures::names() const {
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i < kCpuFeatureCount; ++i)
    if (bits_.test(i)) result.push_back(kNames[i]);
  return result;
}

void decode_x86_features(const X86Registers& registers, CpuFacts& facts) {
  for (const Bit& bit : kBits) {
    if ((registers.*bit.word >> bit.bit & 1) == 0) continue;
    const bool saved = (registers.xcr0 & bit.state) == bit.state;
    (saved ? facts.usable : facts.disabled).add(bit.feature);
  }
}

void decode_aarch64_features(std::uint64_t hwcap, std::uint64_t hwcap2, CpuFacts& facts) {
  // Linux, arch/arm64/include/uapi/asm/hwcap.h.
  constexpr std::pair<int, CpuFeature> kFirst[] = {{1, CpuFeature::kAsimd},
                                                   {10, CpuFeature::kAsimdHp},
                                                   {20, CpuFeature::kAsimdDp},
                                                   {22, CpuFeature::kSve}};
  constexpr std::pair<int, CpuFeature> kSecond[] = {
      {1, CpuFeature::kSve2}, {13, CpuFeature::kI8mm}, {14, CpuFeature::kArmBf16}};
  for (const auto& [bit, feature] : kFirst)
    if ((hwcap >> bit & 1) != 0) facts.usable.add(feature);
  for (const auto& [bit, feature] : kSecond)
    if ((hwcap2 >> bit & 1) != 0) facts.usable.add(feature);
}

CpuFacts this_cpu() {
  CpuFacts facts;
  utsname system{};
  if (::uname(&system) == 0) facts.architecture = system.machine;
#if defined(__x86_64__)
  facts.model = brand();
  decode_x86_features(read_registers(), facts);
#elif defined(__aarch64__)
  decode_aarch64_features(::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2), facts);
#endif
  return facts;
}

}  // namespace cachetool
