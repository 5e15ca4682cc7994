#include "container/x86_code.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "elf_maker.h"

using namespace cachetool;
using namespace cachetool::container;
using namespace elf_tests;

namespace {

std::string library_with(const std::string& code, const std::vector<Export>& functions) {
  SharedObject object;
  object.code = code;
  object.exports = functions;
  return make_shared_object(object);
}

/// Names of functions point into `library`.
X86Code decode_library(std::string_view library) {
  const auto result = read_x86_code(library);
  REQUIRE(result);
  return *result;
}

X86Code decode(const std::string& code, const std::vector<Export>& functions = {}) {
  X86Code result = decode_library(library_with(code, functions));
  for (FeatureUse& use : result.uses) use.function = {};
  return result;
}

CpuFeatures needs(const std::string& code) {
  return decode(code).needs;
}

const std::string kReturn = "\xc3";
const std::string kVaddpsZmm = "\x62\xf1\x7c\x48\x58\xc0";    // vaddps zmm0, zmm0, zmm0
const std::string kVaddpsYmm = "\xc5\xfc\x58\xc0";            // vaddps ymm0, ymm0, ymm0
const std::string kVpadddYmm = "\xc5\xfd\xfe\xc0";            // vpaddd ymm0, ymm0, ymm0
const std::string kVaddpsYmm17 = "\x62\xa1\x74\x20\x58\xc9";  // vaddps ymm17, ymm17, ymm17
const std::string kKmovd = "\xc5\xfb\x92\xc8";                // kmovd k1, eax
const std::string kVfmadd = "\xc4\xe2\x7d\xa8\xc0";           // vfmadd213ps ymm0, ymm0, ymm0
const std::string kVdpbf16 = "\x62\xf2\x7e\x48\x52\xc0";      // vdpbf16ps zmm0, zmm0, zmm0
const std::string kVpdpbusd = "\x62\xf2\x7d\x48\x50\xc0";     // vpdpbusd zmm0, zmm0, zmm0
const std::string kVaddphZmm = "\x62\xf5\x7c\x48\x58\xc0";    // vaddph zmm0, zmm0, zmm0
const std::string kTdpbf16 = "\xc4\xe2\x72\x5c\xc2";          // tdpbf16ps tmm0, tmm2, tmm1
const std::string kTzcnt = "\xf3\x0f\xbc\xc0";                // tzcnt eax, eax
const std::string kLzcnt = "\xf3\x0f\xbd\xc0";                // lzcnt eax, eax
const std::string kShlx = "\xc4\xe2\x79\xf7\xc0";             // shlx eax, eax, eax
const std::string kEndbr = "\xf3\x0f\x1e\xfa";                // endbr64
const std::string kCpuid = "\x0f\xa2";                        // cpuid

}  // namespace

TEST_SUITE("container/x86_code") {
  TEST_CASE("instructions and what they need") {
    using F = CpuFeature;
    CHECK(needs(kEndbr + kReturn).empty());
    CHECK(needs(kVaddpsYmm + kReturn) == CpuFeatures{F::kAvx});
    CHECK(needs(kVpadddYmm) == CpuFeatures{F::kAvx2});
    CHECK(needs(kVfmadd) == CpuFeatures{F::kFma});
    CHECK(needs(kVaddpsZmm) == CpuFeatures{F::kAvx512F});
    CHECK(needs(kVaddpsYmm17) == CpuFeatures{F::kAvx512F, F::kAvx512Vl});
    CHECK(needs(kKmovd) == CpuFeatures{F::kAvx512F, F::kAvx512Bw});
    CHECK(needs(kVdpbf16) == CpuFeatures{F::kAvx512F, F::kAvx512Bf16});
    CHECK(needs(kVpdpbusd) == CpuFeatures{F::kAvx512F, F::kAvx512Vnni});
    CHECK(needs(kVaddphZmm) == CpuFeatures{F::kAvx512F, F::kAvx512Fp16});
    CHECK(needs(kTdpbf16) == CpuFeatures{F::kAmxTile, F::kAmxBf16});
    CHECK(needs(kShlx) == CpuFeatures{F::kBmi2});
  }

  TEST_CASE("tzcnt runs anywhere, lzcnt doesn't") {
    CHECK(needs(kTzcnt).empty());
    CHECK(needs(kLzcnt) == CpuFeatures{CpuFeature::kLzcnt});
  }

  TEST_CASE("where a feature is first needed") {
    const std::string code = kReturn + kVaddpsYmm + kReturn + kVaddpsZmm + kReturn;
    const std::string library =
        library_with(code, {{"plain", {}, false, 0x1000}, {"wide", {}, false, 0x1006}});
    const X86Code result = decode_library(library);
    REQUIRE(result.uses.size() == 2);
    CHECK(result.uses[0].feature == CpuFeature::kAvx);
    CHECK(result.uses[0].function == "plain");
    CHECK(result.uses[1].feature == CpuFeature::kAvx512F);
    CHECK(result.uses[1].function == "wide");
    CHECK(result.uses[1].offset == result.uses[0].offset + 5);
    CHECK(result.instructions == 5);
    CHECK(result.undecoded_bytes == 0);
  }

  TEST_CASE("a function starts afresh where the bytes before it are data") {
    // 0x48 would swallow the first byte of the function as a prefix.
    const X86Code result = decode("\x48" + kVaddpsZmm, {{"wide", {}, false, 0x1001}});
    CHECK(result.needs == CpuFeatures{CpuFeature::kAvx512F});
    CHECK(result.undecoded_bytes == 1);
  }

  TEST_CASE("code that asks the processor is told apart") {
    CHECK_FALSE(decode(kVaddpsZmm).asks_processor);
    CHECK(decode(kCpuid + kVaddpsZmm).asks_processor);
  }

  TEST_CASE("symbols anywhere, even outside the section, do no harm") {
    for (const std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{0xfff}, std::uint64_t{0x1003}, std::uint64_t{0x1006}, UINT64_MAX}) {
      CHECK(decode(kVaddpsYmm + kReturn + kReturn, {{"f", {}, false, address}}).instructions >= 1);
    }
  }

  TEST_CASE("other machines and overlapping sections are refused") {
    SharedObject object;
    object.machine = kMachineAArch64;
    const auto other = read_x86_code(make_shared_object(object));
    REQUIRE_FALSE(other);
    CHECK(other.error().code == ErrorCode::kUnsupported);
    X86CodeLimits limits;
    limits.max_code_bytes = 3;
    object.machine = kMachineX86_64;
    object.code = kVaddpsZmm;
    const auto long_one = read_x86_code(make_shared_object(object), limits);
    REQUIRE_FALSE(long_one);
    CHECK(long_one.error().code == ErrorCode::kLimitWork);
  }
}
