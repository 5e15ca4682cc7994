#include "verify/target_machine.h"

#include <doctest/doctest.h>

#include "base/memory_file_system.h"
#include "unit/container/elf_maker.h"
#include "unit/verify/doctor/fake_host.h"
#include "verify/host_facts.h"

using namespace cachetool;
using namespace cachetool::verify;
using namespace elf_tests;

namespace {

const std::string kTorch = "/opt/env/lib/python3.11/site-packages/torch";

std::string rejected(std::string_view text) {
  const auto request = parse_target(text);
  return request ? "accepted" : request.error().message;
}

std::string architecture(std::string_view model) {
  const auto target = gpu_architecture(model);
  return target ? target->text() : "unknown";
}

}  // namespace

TEST_SUITE_BEGIN("verify/target_machine");

TEST_CASE("what --against takes") {
  const auto host = parse_target("host");
  REQUIRE(host);
  CHECK(host->host);
  CHECK(host->cpu.empty());
  const auto parts = parse_target("arch=sm_90a,cpu=avx512,torch=/opt/torch");
  REQUIRE(parts);
  CHECK_FALSE(parts->host);
  CHECK(parts->gpu->text() == "sm_90a");
  CHECK(parts->cpu == "avx512");
  CHECK(parts->torch == "/opt/torch");
  CHECK(parse_target("host,arch=80")->gpu->number == 80);
  for (const char* wrong : {"", "host,", ",host", "avx2", "cpu=sse", "cpu=", "arch=", "arch=gfx942", "torch=",
                            "host=1", "host,host", "cpu=avx2,cpu=amx", "arch=80,arch=90", "hosts"}) {
    CAPTURE(wrong);
    CHECK(rejected(wrong) != "accepted");
  }
  CHECK(rejected("cpu=avx2,cpu=amx") == "\"cpu\" is given twice");
}

TEST_CASE("each processor level has all that the one before has") {
  CHECK(cpu_level("avx512")->has_all(*cpu_level("avx2")));
  CHECK(cpu_level("amx")->has_all(*cpu_level("avx512")));
  CHECK_FALSE(cpu_level("avx2")->has(CpuFeature::kAvx512F));
  CHECK_FALSE(cpu_level("avx512")->has(CpuFeature::kAvx512Vnni));
  CHECK(cpu_level("amx")->has(CpuFeature::kAmxBf16));
  CHECK_FALSE(cpu_level("sse"));
}

TEST_CASE("architectures by the names that drivers give GPUs") {
  CHECK(architecture("NVIDIA H200") == "sm_90");
  CHECK(architecture("NVIDIA H100 80GB HBM3") == "sm_90");
  CHECK(architecture("NVIDIA A100-SXM4-80GB") == "sm_80");
  CHECK(architecture("NVIDIA A10G") == "sm_86");
  CHECK(architecture("Tesla V100-SXM2-16GB") == "sm_70");
  CHECK(architecture("Tesla T4") == "sm_75");
  CHECK(architecture("NVIDIA L40S") == "sm_89");
  CHECK(architecture("NVIDIA B200") == "sm_100");
  CHECK(architecture("NVIDIA GeForce RTX 4090") == "sm_89");
  CHECK(architecture("NVIDIA GeForce RTX 3080 Ti") == "sm_86");
  CHECK(architecture("NVIDIA RTX 6000 Ada Generation") == "sm_89");
  CHECK(architecture("NVIDIA RTX A6000") == "sm_86");
  CHECK(architecture("NVIDIA RTX PRO 6000 Blackwell Server Edition") == "sm_120");
  CHECK(architecture("NVIDIA Z999") == "unknown");
  CHECK(architecture("") == "unknown");
}

TEST_CASE("only what is named is set") {
  MemoryFileSystem fs;
  const auto cpu = describe_target(fs, {}, {}, *parse_target("cpu=avx2"));
  REQUIRE(cpu);
  CHECK(cpu->cpu->features == cpu_level("avx2"));
  CHECK_FALSE(cpu->gpus);
  CHECK(cpu->libraries == nullptr);
  const auto gpu = describe_target(fs, {}, {}, *parse_target("arch=sm_90"));
  REQUIRE(gpu);
  CHECK_FALSE(gpu->cpu);
  REQUIRE(gpu->gpus->size() == 1);
  CHECK(gpu->libraries == nullptr);
  TargetRequest request;
  request.libraries = true;
  const auto libraries = describe_target(fs, {}, {}, request);
  REQUIRE(libraries);
  CHECK_FALSE(libraries->cpu);
  CHECK_FALSE(libraries->gpus);
  CHECK(libraries->libraries != nullptr);
  CHECK(libraries->judges_system);
}

TEST_CASE("the host is what it says, and what is named beside it comes first") {
  MemoryFileSystem fs;
  HostFacts facts;
  facts.cpu.architecture = "x86_64";
  facts.cpu.usable = {CpuFeature::kAvx};
  facts.gpu_models = {"NVIDIA H200", "NVIDIA Z999"};
  const auto host = describe_target(fs, {}, facts, *parse_target("host"));
  REQUIRE(host);
  CHECK(host->cpu->features == CpuFeatures{CpuFeature::kAvx});
  REQUIRE(host->gpus->size() == 2);
  CHECK(host->gpus->at(0).architecture->number == 90);
  CHECK_FALSE(host->gpus->at(1).architecture);
  const auto mixed = describe_target(fs, {}, facts, *parse_target("host,arch=sm_80,cpu=avx2"));
  REQUIRE(mixed);
  CHECK(mixed->gpus->at(0).architecture->number == 80);
  CHECK(mixed->cpu->name == "cpu=avx2");
  facts.cpu = {"aarch64", {}, {}, {}};
  const auto arm = describe_target(fs, {}, facts, *parse_target("host"));
  REQUIRE(arm);
  CHECK(arm->cpu->elf_machine == container::kMachineAArch64);
  CHECK_FALSE(arm->cpu->features);
}

TEST_CASE("a torch package is known by its libraries, its Python by an extension module") {
  MemoryFileSystem fs;
  fs.add_file(kTorch + "/lib/libtorch_cpu.so", make_shared_object({}));
  fs.add_file(kTorch + "/_C.cpython-311-x86_64-linux-gnu.so", "");
  for (const std::string& place : {kTorch, kTorch.substr(0, kTorch.rfind('/'))}) {
    TargetRequest request;
    request.torch = place;
    const auto target = describe_target(fs, {}, {}, request);
    REQUIRE(target);
    CHECK(target->python_tag == "cpython-311-x86_64-linux-gnu");
    CHECK(target->libraries->torch() == kTorch);
    CHECK_FALSE(target->judges_system);
  }
  TargetRequest request;
  request.torch = "/opt/env";
  const auto none = describe_target(fs, {}, {}, request);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNotFound);
}

TEST_CASE("this machine: its processor, NVIDIA's GPUs, the torch of its Python") {
  doctor_tests::FakeMachine host;
  MemoryFileSystem fs;
  fs.add_file("/proc/driver/nvidia/gpus/0000:17:00.0/information",
              "Model: \t\t NVIDIA H200\nIRQ:   \t\t 123\n");
  fs.add_file("/proc/driver/nvidia/gpus/0000:18:00.0/information", "IRQ: 1\nModel: \t NVIDIA L4 \n");
  fs.add_dir("/proc/driver/nvidia/gpus/0000:19:00.0");
  const std::string packages = "/opt/env/lib/python3.11/site-packages";
  fs.add_file(packages + "/torch-2.9.1.dist-info/METADATA", "");
  fs.add_file(packages + "/torch/version.py", "__version__ = '2.9.1+cu128'\ncuda = '12.8'\n");
  store::Environment environment;
  environment.variables["VIRTUAL_ENV"] = "/opt/env";
  const HostFacts facts = read_host_facts(fs, host, environment);
  CHECK(facts.torch == packages + "/torch");
  CHECK(facts.cpu.architecture == "x86_64");
  CHECK(facts.gpu_models == std::vector<std::string>{"NVIDIA H200", "NVIDIA L4", ""});
  MemoryFileSystem bare;
  CHECK(read_host_facts(bare, host, {}).gpu_models.empty());
  CHECK(read_host_facts(bare, host, {}).torch.empty());
}

TEST_SUITE_END();
