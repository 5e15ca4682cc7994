#include "container/cubin.h"

#include <doctest/doctest.h>

#include <string>

#include "elf_maker.h"

using namespace cachetool;
using namespace cachetool::container;
using namespace elf_tests;

namespace {

std::string target(std::uint32_t flags, std::uint8_t abi_version, const std::string& options = {}) {
  const auto cubin = read_cubin(make_cubin(flags, abi_version, {{"k"}}, options));
  REQUIRE(cubin);
  return cubin->target.text() + (cubin->target.variant == CudaVariant::kUnknown ? "?" : "");
}

bool runs(std::string_view code, std::string_view device) {
  return runs_on(parse_cuda_target(code).value(), parse_cuda_target(device).value());
}

}  // namespace

TEST_SUITE("container/cubin") {
  TEST_CASE("the architecture in both layouts of the flags") {
    // What ptxas 12.8 and 13.x wrote for the architectures named.
    CHECK(target(0x500550, 7) == "sm_80");
    CHECK(target(0x5a055a, 7) == "sm_90");
    CHECK(target(0x5a0d5a, 7) == "sm_90a");
    CHECK(target(0x6005a04, 8, "-v -arch sm_90 ") == "sm_90");
    CHECK(target(0x9005a04, 8, "-v   -lineinfo  -arch sm_90a ") == "sm_90a");
    CHECK(target(0xa006402, 8, "-arch sm_100f ") == "sm_100f");
    CHECK(target(0x600640a, 8) == "sm_100a");
    CHECK(target(0x9005a04, 8) == "sm_90?");
    // A note about another architecture says nothing about this one.
    CHECK(target(0x9005a04, 8, "-arch sm_80 ") == "sm_90?");
  }

  TEST_CASE("kernels, their threads and shared memory") {
    const std::string bytes = make_cubin(0x5a0d5a, 7, {{"helper", 0, 0, false}, {"a", 128, 1024}, {"b", 64}});
    const auto cubin = read_cubin(bytes);
    REQUIRE(cubin);
    REQUIRE(cubin->kernels.size() == 2);
    CHECK(cubin->kernels[0].name == "a");
    CHECK(cubin->kernels[0].threads == 128);
    CHECK(cubin->kernels[0].shared_bytes == 1024);
    CHECK(cubin->find("b") == &cubin->kernels[1]);
    CHECK(cubin->find("b")->shared_bytes == 0);
    CHECK(cubin->find("helper") == nullptr);
  }

  TEST_CASE("names of architectures") {
    CHECK(parse_cuda_target("sm_90a")->text() == "sm_90a");
    CHECK(parse_cuda_target("90")->text() == "sm_90");
    CHECK(parse_cuda_target("sm_100f")->number == 100);
    CHECK(parse_cuda_target("sm_121")->major() == 12);
    for (const char* wrong : {"", "sm_", "sm_9", "sm_1000", "sm_9x", "sm_a", "a", "sm_09", "gfx90a"})
      CHECK_FALSE(parse_cuda_target(wrong));
  }

  TEST_CASE("which device runs what") {
    CHECK(runs("sm_80", "sm_80"));
    CHECK(runs("sm_80", "sm_86"));
    CHECK_FALSE(runs("sm_86", "sm_80"));
    CHECK_FALSE(runs("sm_80", "sm_90"));
    CHECK_FALSE(runs("sm_90", "sm_100"));
    CHECK(runs("sm_90a", "sm_90"));
    CHECK_FALSE(runs("sm_100a", "sm_103"));
    CHECK(runs("sm_100f", "sm_103"));
    CHECK(runs("sm_100", "sm_103a"));
    CHECK_FALSE(runs("sm_100", "sm_120"));
  }

  TEST_CASE("damaged files end in an error or in less") {
    const std::string whole = make_cubin(0x5a0d5a, 7, {{"a", 128, 1024}});
    for (std::size_t size = 0; size < whole.size(); ++size)
      static_cast<void>(read_cubin(std::string_view(whole).substr(0, size)));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
      static_cast<void>(read_cubin(flipped));
    }
    const auto other = read_cubin(make_shared_object({}));
    REQUIRE_FALSE(other);
    CHECK(other.error().code == ErrorCode::kUnsupported);
  }
}
