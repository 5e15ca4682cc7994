#include "base/cpu_features.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace cachetool;

namespace {

constexpr std::uint64_t kSavesAvx512 = 0xe7;
constexpr std::uint64_t kSavesAll = 0x600e7;

/// A server processor with everything that the table knows.
X86Registers everything() {
  X86Registers registers;
  registers.leaf1_ecx = registers.leaf7_ebx = registers.leaf7_ecx = registers.leaf7_edx = ~0U;
  registers.leaf7_1_eax = registers.extended1_ecx = ~0U;
  registers.xcr0 = kSavesAll;
  return registers;
}

CpuFacts decode(const X86Registers& registers) {
  CpuFacts facts;
  decode_x86_features(registers, facts);
  return facts;
}

/// The flags of /proc/cpuinfo; empty where there is none.
std::set<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> result;
  for (std::string line; result.empty() && std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) result.insert(word);
  }
  return result;
}

}  // namespace

TEST_CASE("every feature has a name of its own that reads back") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCpuFeatureCount; ++i) {
    const auto feature = static_cast<CpuFeature>(i);
    const std::string_view name = cpu_feature_name(feature);
    CHECK(!name.empty());
    CHECK(names.insert(name).second);
    CHECK(parse_cpu_feature(name) == feature);
  }
  CHECK(!parse_cpu_feature("avx1024"));
  CHECK(cpu_feature_name(CpuFeature::kAvx512Bf16) == "avx512_bf16");
  CHECK(cpu_feature_name(CpuFeature::kSve2) == "sve2");
}

TEST_CASE("features count only where the operating system saves their registers") {
  X86Registers registers = everything();
  CHECK(decode(registers).disabled.empty());
  CHECK(decode(registers).usable.has(CpuFeature::kAmxBf16));
  CHECK(decode(registers).usable.has(CpuFeature::kLzcnt));

  registers.xcr0 = kSavesAvx512;
  const CpuFacts without_amx = decode(registers);
  CHECK(without_amx.usable.has(CpuFeature::kAvx512Vnni));
  CHECK(!without_amx.usable.has(CpuFeature::kAmxTile));
  CHECK(without_amx.disabled ==
        CpuFeatures{CpuFeature::kAmxTile, CpuFeature::kAmxInt8, CpuFeature::kAmxBf16, CpuFeature::kAmxFp16});

  registers.xcr0 = 0x7;
  CHECK(decode(registers).usable.has(CpuFeature::kAvx2));
  CHECK(!decode(registers).usable.has(CpuFeature::kAvx512F));

  registers.xcr0 = 0;
  CHECK(!decode(registers).usable.has(CpuFeature::kAvx));
  CHECK(decode(registers).usable.has(CpuFeature::kSse42));
}

TEST_CASE("nothing in the registers is no feature") {
  CHECK(decode({}).usable.empty());
  X86Registers only_saved;
  only_saved.xcr0 = kSavesAll;
  CHECK(decode(only_saved).usable.empty());
}

TEST_CASE("sets tell what is lacking") {
  const CpuFeatures machine{CpuFeature::kAvx2, CpuFeature::kFma};
  const CpuFeatures file{CpuFeature::kAvx512F, CpuFeature::kFma};
  CHECK(!machine.has_all(file));
  CHECK(machine.has_all({}));
  CHECK(machine.has_all({CpuFeature::kFma}));
  CHECK(file.without(machine) == CpuFeatures{CpuFeature::kAvx512F});
  CHECK(file.with(machine).names() == std::vector<std::string_view>{"fma", "avx2", "avx512f"});
}

TEST_CASE("features of aarch64 come from the kernel's words") {
  CpuFacts facts;
  decode_aarch64_features(std::uint64_t{1} << 1 | std::uint64_t{1} << 22, std::uint64_t{1} << 14, facts);
  CHECK(facts.usable == CpuFeatures{CpuFeature::kAsimd, CpuFeature::kSve, CpuFeature::kArmBf16});
}

TEST_CASE("this machine has what the kernel says") {
  const CpuFacts facts = this_cpu();
  CHECK(!facts.architecture.empty());
  const std::set<std::string> flags = kernel_flags();
  if (facts.architecture != "x86_64" || flags.empty()) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(CpuFeature::kAsimd); ++i) {
    const auto feature = static_cast<CpuFeature>(i);
    std::string name(cpu_feature_name(feature));
    if (feature == CpuFeature::kSse3) name = "pni";
    if (feature == CpuFeature::kLzcnt) name = "abm";
    // A hypervisor may hide from the kernel's list what the processor still tells, never the other way round.
    if (flags.count(name) != 0) CHECK_MESSAGE(facts.usable.has(feature), name);
    if (feature <= CpuFeature::kAvx512F && facts.usable.has(feature))
      CHECK_MESSAGE(flags.count(name) != 0, name);
  }
}
