#include "verify/doctor/machine.h"

#include <doctest/doctest.h>

#include "fake_host.h"
#include "torch/vec_isa.h"

using namespace cachetool;
using namespace doctor_tests;
using torch::ReleaseFamily;
using verify::Machine;

TEST_SUITE_BEGIN("verify/doctor/machine");

namespace {

constexpr const char* kBus = "/sys/bus/pci/devices/";

void add_device(FakeMachine& machine, const std::string& address, const std::string& kind,
                const std::string& vendor) {
  machine.fs.add_file(kBus + address + "/class", kind + "\n");
  machine.fs.add_file(kBus + address + "/vendor", vendor + "\n");
}

Machine read(FakeMachine& machine) {
  return verify::read_machine(machine.fs, machine, machine.environment);
}

const CpuFeatures kAvx512{CpuFeature::kAvx2, CpuFeature::kAvx512F, CpuFeature::kAvx512Vl,
                          CpuFeature::kAvx512Bw, CpuFeature::kAvx512Dq};

}  // namespace

TEST_CASE("GPUs are display controllers of their makers, with the driver's name for them") {
  FakeMachine machine;
  add_device(machine, "0000:00:02.0", "0x030000", "0x8086");
  add_device(machine, "0000:00:1f.0", "0x060100", "0x8086");
  add_device(machine, "0000:03:00.0", "0x038000", "0x1002");
  add_device(machine, "0000:17:00.0", "0x030200", "0x10de");
  machine.fs.add_file("/proc/driver/nvidia/gpus/0000:17:00.0/information",
                      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 412\n");
  machine.fs.add_file("/proc/driver/nvidia/version",
                      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"
                      "GCC version:  gcc version 12.2.0\n");
  machine.fs.add_special("/dev/nvidia0", FileType::kDevice);
  machine.fs.add_special("/dev/null", FileType::kDevice);
  const Machine found = read(machine);
  REQUIRE(found.gpus.size() == 2);
  CHECK(found.gpus[0].vendor == "amd");
  CHECK(found.gpus[1].vendor == "nvidia");
  CHECK(found.gpus[1].model == "NVIDIA H200");
  CHECK(found.gpus[1].address == "0000:17:00.0");
  CHECK(found.nvidia_driver == "580.65.06");
  CHECK(found.device_nodes == std::vector<std::string>{"/dev/nvidia0"});
  CHECK(found.kernel == "6.1.0");
}

TEST_CASE("where the bus is hidden the driver's list counts") {
  FakeMachine machine;
  machine.fs.add_file("/proc/driver/nvidia/gpus/0000:17:00.0/information", "Model: NVIDIA L4\n");
  machine.fs.add_file("/proc/driver/nvidia/version",
                      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\n");
  const Machine found = read(machine);
  REQUIRE(found.gpus.size() == 1);
  CHECK(found.gpus[0].model == "NVIDIA L4");
  CHECK(found.nvidia_driver == "550.54.15");
}

TEST_CASE("a machine without any of it has none") {
  FakeMachine machine;
  CHECK(read(machine).gpus.empty());
  CHECK(read(machine).nvidia_driver.empty());
  machine.fs.add_file("/proc/driver/nvidia/version", "something else 1.2.3\n");
  CHECK(read(machine).nvidia_driver.empty());
}

TEST_CASE("releases that pick the same vector instructions are one item") {
  FakeMachine machine;
  const Machine plain = read(machine);
  REQUIRE(plain.vector_isa.size() == 1);
  CHECK(plain.vector_isa[0].isa == "avx2");
  machine.processor.usable = kAvx512.with({CpuFeature::kAvx512Vnni});
  const Machine found = read(machine);
  REQUIRE(found.vector_isa.size() == 2);
  CHECK(found.vector_isa[0].isa == "avx512");
  CHECK(found.vector_isa[0].last == ReleaseFamily::k2_9);
  CHECK(found.vector_isa[1].isa == "avx512 avx512_vnni");
  CHECK(found.vector_isa[1].last == ReleaseFamily::k2_15);
  machine.processor.architecture = "riscv64";
  CHECK(read(machine).vector_isa.empty());
}

TEST_CASE("torch picks the best vector instructions that all parts of the processor have") {
  CpuFacts cpu;
  cpu.architecture = "x86_64";
  const auto pick = [&](ReleaseFamily family, std::optional<std::string_view> capability = {}) {
    return torch::pick_vec_isa(cpu, capability, family);
  };
  CHECK(pick(ReleaseFamily::k2_9) == "none");
  cpu.usable = kAvx512.without({CpuFeature::kAvx512Dq});
  CHECK(pick(ReleaseFamily::k2_9) == "avx2");
  cpu.usable = kAvx512.with({CpuFeature::kAmxTile});
  CHECK(pick(ReleaseFamily::k2_9) == "avx512 amx_tile");
  CHECK(pick(ReleaseFamily::k2_15) == "avx512");
  cpu.usable.add(CpuFeature::kAvx512Vnni);
  CHECK(pick(ReleaseFamily::k2_15) == "avx512 avx512_vnni amx_tile");
  CHECK(pick(ReleaseFamily::k2_15, "avx512") == "avx512 avx512_vnni amx_tile");
  CHECK(pick(ReleaseFamily::k2_15, "avx2") == "avx2");
  CHECK(pick(ReleaseFamily::k2_15, "default") == "none");
  CHECK(pick(ReleaseFamily::k2_15, "nonsense") == "avx512 avx512_vnni amx_tile");
  cpu.usable = {CpuFeature::kAvx2};
  CHECK(pick(ReleaseFamily::k2_9, "avx512") == "avx2");
  cpu.architecture = "aarch64";
  CHECK(pick(ReleaseFamily::k2_9) == "asimd");
}

TEST_SUITE_END();
