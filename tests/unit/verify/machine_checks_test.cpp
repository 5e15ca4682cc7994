#include "verify/machine_checks.h"

#include <doctest/doctest.h>

#include "base/memory_file_system.h"
#include "unit/container/elf_maker.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace cachetool::verify;
using namespace elf_tests;

namespace {

const std::string kSystem = "/usr/lib/x86_64-linux-gnu/";
const std::string kTorch = "/opt/env/lib/python3.11/site-packages/torch";
const std::string kWide = "\x62\xf1\x7c\x48\x58\xc0";  // vaddps zmm0, zmm0, zmm0
const std::string kCpuid = "\x0f\xa2";

/// A machine with a C library and, where asked for, torch.
MemoryFileSystem machine(bool with_torch = true) {
  MemoryFileSystem fs;
  SharedObject libc;
  libc.exports = {{"printf", "GLIBC_2.2.5"}};
  libc.versions = {"GLIBC_2.2.5", "GLIBC_2.36"};
  fs.add_file(kSystem + "libc.so.6", make_shared_object(libc));
  if (!with_torch) return fs;
  SharedObject torch;
  torch.exports = {{"aoti_torch_check"}};
  fs.add_file(kTorch + "/lib/libtorch_cpu.so", make_shared_object(torch));
  fs.add_file(kTorch + "/_C.cpython-311-x86_64-linux-gnu.so", "");
  return fs;
}

TargetMachine target(FileSystem& fs, const std::string& request, std::vector<std::string> gpus = {}) {
  HostFacts facts;
  facts.cpu = {"x86_64", {}, *cpu_level("avx2"), {}};
  facts.gpu_models = std::move(gpus);
  if (fs.open_root(kTorch)) facts.torch = kTorch;
  auto result = describe_target(fs, {}, facts, *parse_target(request));
  REQUIRE(result);
  return std::move(*result);
}

struct Said {
  std::vector<std::string> findings;  ///< "severity id: message"
  std::vector<std::string> open;      ///< "id: reason"
  std::uint64_t fine = 0;
};

Said said(FileReport& report) {
  Said result;
  for (const Finding& finding : report.findings()) {
    result.findings.push_back(std::string(severity_name(finding.severity)) + " " +
                              std::string(finding.check->id) + ": " + finding.message);
  }
  for (const auto& [check, coverage] : report.coverage()) {
    result.fine += coverage.checked;
    for (const auto& [reason, count] : coverage.not_checkable)
      result.open.push_back(std::string(check->id) + ": " + reason);
  }
  result.fine -= result.findings.size();
  std::sort(result.open.begin(), result.open.end());
  return result;
}

Said judge(const SharedObject& object, const TargetMachine& machine) {
  FileReport report(0, "x.so");
  judge_shared_object(make_shared_object(object), machine, report);
  return said(report);
}

Said judge_gpu(std::uint32_t flags, const TargetMachine& machine, const std::string& member = {}) {
  const std::string bytes = make_cubin(flags, 7, {{"k", 128}});
  FileReport report(0, "k.cubin");
  judge_cubin(container::read_cubin(bytes).value(), member, machine, report);
  return said(report);
}

Said compare(const std::vector<CubinKernel>& kernels, const KernelMetadata& metadata) {
  const std::string bytes = make_cubin(0x5a0d5a, 7, kernels);
  const auto cubin = container::read_cubin(bytes);
  FileReport report(0, "k.cubin");
  compare_kernels(cubin->kernels, metadata, {}, report);
  return said(report);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("verify/machine_checks");

TEST_CASE("a processor may have more than is needed, not less") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.code = kWide;
  object.exports = {{"kernel", {}, false, 0x1000}};
  CHECK(judge(object, target(fs, "cpu=avx512")).findings.empty());
  CHECK(judge(object, target(fs, "cpu=amx")).findings.empty());
  CHECK(judge(object, target(fs, "cpu=avx2")).findings ==
        Texts{"error binary.processor: needs avx512f, which cpu=avx2 lacks; first in kernel"});
  CHECK(judge(object, target(fs, "host")).findings.size() == 1);
  CHECK(judge(object, target(fs, "arch=sm_90")).findings.empty());
}

TEST_CASE("code that is chosen at run time can't be judged") {
  MemoryFileSystem fs = machine();
  const TargetMachine avx2 = target(fs, "cpu=avx2");
  SharedObject object;
  object.code = kCpuid + kWide;
  const Said asks = judge(object, avx2);
  CHECK(asks.findings.empty());
  CHECK(asks.open == Texts{"binary.processor: the file chooses its code by the processor it meets"});
  object.code = kWide;
  object.exports = {{"sum", {}, true}};
  CHECK(judge(object, avx2).findings.empty());
  object.exports = {{"__avx512_vnni_chk_kernel_1"}};
  const Said probe = judge(object, avx2);
  CHECK(probe.findings.empty());
  CHECK(probe.open.empty());
}

TEST_CASE("another machine is one finding, not many") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.machine = container::kMachineAArch64;
  object.needed = {"libnone.so"};
  CHECK(judge(object, target(fs, "host")).findings ==
        Texts{"error binary.machine: is for aarch64, not for x86-64"});
}

TEST_CASE("libraries that a shared object needs") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.needed = {"libc.so.6", "libtorch_cpu.so", "libnone.so", "libcuda.so.1"};
  const Said host = judge(object, target(fs, "host"));
  CHECK(host.findings == Texts{"error binary.library: needs libnone.so, which isn't there"});
  CHECK(host.open == Texts{"binary.library: the GPU's driver isn't installed here"});
  const Said torch = judge(object, target(fs, "torch=" + kTorch));
  CHECK(torch.findings.empty());
  object.needed = {"libtorch_cuda.so"};
  CHECK(judge(object, target(fs, "torch=" + kTorch)).findings.size() == 1);
  MemoryFileSystem bare = machine(false);
  const Said without = judge(object, target(bare, "host"));
  CHECK(without.findings.empty());
  CHECK(without.open == Texts{"binary.library: no torch is installed here, and none was named"});
}

TEST_CASE("one finding names the latest version that is missing") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.needed = {"libc.so.6"};
  object.imports = {{"printf", "libc.so.6", "GLIBC_2.2.5"},
                    {"a", "libc.so.6", "GLIBC_2.38"},
                    {"b", "libc.so.6", "GLIBC_2.41"},
                    {"c", "libc.so.6", "GLIBC_2.99", true}};
  CHECK(judge(object, target(fs, "host")).findings ==
        Texts{"error binary.version: needs GLIBC_2.41 of libc.so.6; " + kSystem +
              "libc.so.6 ends at GLIBC_2.36"});
  CHECK(judge(object, target(fs, "torch=" + kTorch)).findings.empty());
  object.exports = {{"__avx_chk_kernel"}};
  const Said probe = judge(object, target(fs, "host"));
  REQUIRE(probe.findings.size() == 1);
  CHECK(probe.findings[0].starts_with("warning binary.version"));
}

TEST_CASE("symbols that nobody defines") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.needed = {"libtorch_cpu.so", "libc.so.6"};
  object.imports = {{"aoti_torch_check"}, {"PyTuple_New"}, {"__gmon_start__", {}, {}, true}};
  for (const std::string& request : {std::string("host"), "torch=" + kTorch}) {
    CHECK(judge(object, target(fs, request)).findings.empty());
    CHECK(judge(object, target(fs, request)).open.empty());
  }
  object.imports.push_back({"aoti_torch_gone"});
  for (const std::string& request : {std::string("host"), "torch=" + kTorch}) {
    CHECK(judge(object, target(fs, request)).findings ==
          Texts{"error binary.symbol: no library defines aoti_torch_gone"});
  }
  object.imports = {{"scanf", "libc.so.6", "GLIBC_2.2.5"}};
  CHECK(judge(object, target(fs, "host")).findings.size() == 1);
  object.imports.clear();
  for (char c = 'a'; c < 'h'; ++c) object.imports.push_back({std::string(1, c)});
  CHECK(judge(object, target(fs, "host")).findings ==
        Texts{"error binary.symbol: no library defines a, b, c, d, e and 2 more"});
}

TEST_CASE("symbols stay open where a library wasn't found") {
  MemoryFileSystem fs = machine(false);
  SharedObject object;
  object.needed = {"libtorch_cpu.so", "libc.so.6"};
  object.imports = {{"aoti_torch_check"}};
  const Said result = judge(object, target(fs, "host"));
  CHECK(result.findings.empty());
  CHECK(result.open == Texts{"binary.library: no torch is installed here, and none was named",
                             "binary.symbol: libtorch_cpu.so wasn't found"});
}

TEST_CASE("names in a file are escaped") {
  MemoryFileSystem fs = machine();
  SharedObject object;
  object.imports = {{"evil\x1b[2J"}};
  CHECK(judge(object, target(fs, "host")).findings ==
        Texts{"error binary.symbol: no library defines evil\\x1b[2J"});
}

TEST_CASE("damaged files are left to the checks of structure") {
  MemoryFileSystem fs = machine();
  const TargetMachine host = target(fs, "host");
  SharedObject object;
  object.needed = {"libnone.so"};
  object.code = kWide;
  const std::string whole = make_shared_object(object);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    FileReport report(0, "x.so");
    judge_shared_object(std::string_view(whole).substr(0, size), host, report);
    CHECK(report.findings().empty());
  }
}

TEST_CASE("launchers are for one Python") {
  MemoryFileSystem fs = machine();
  const TargetMachine host = target(fs, "host");
  const auto judged = [&](std::string_view name, const TargetMachine& machine) {
    FileReport report(0, std::string(name));
    judge_python_tag(name, machine, report);
    return said(report);
  };
  CHECK(judged("__triton_launcher.cpython-311-x86_64-linux-gnu.so", host).fine == 1);
  CHECK(judged("cuda_utils.cpython-312-x86_64-linux-gnu.so", host).findings ==
        Texts{"warning launcher.python: is for cpython-312-x86_64-linux-gnu; the Python of torch here is "
              "cpython-311-x86_64-linux-gnu"});
  CHECK(judged("__triton_launcher.so", host).findings.empty());
  CHECK(judged("cuda_utils.cpython-312-x86_64-linux-gnu.so", target(fs, "cpu=avx2")).findings.empty());
}

TEST_CASE("GPU code and the GPUs at hand") {
  MemoryFileSystem fs = machine();
  CHECK(judge_gpu(0x5a0d5a, target(fs, "arch=sm_90")).fine == 1);
  CHECK(
      judge_gpu(0x5a0d5a, target(fs, "arch=sm_80")).findings ==
      Texts{"error cubin.device: is for sm_90a, not for arch=sm_80: sm_90a runs on that architecture only"});
  CHECK(judge_gpu(0x500550, target(fs, "arch=sm_90"), "bundled k.cubin").findings ==
        Texts{"error cubin.device: bundled k.cubin is for sm_80, not for arch=sm_90: sm_80 runs on compute "
              "capability 8.0 and later ones of 8.x"});
  CHECK(judge_gpu(0x500550, target(fs, "arch=sm_86")).fine == 1);
  CHECK(judge_gpu(0x5a0d5a, target(fs, "cpu=avx2")).fine == 0);
  CHECK(judge_gpu(0x5a0d5a, target(fs, "host")).open == Texts{"cubin.device: no NVIDIA GPU is here"});
  CHECK(judge_gpu(0x5a0d5a, target(fs, "host", {"NVIDIA H200"})).fine == 1);
  CHECK(judge_gpu(0x5a0d5a, target(fs, "host", {"NVIDIA A100-SXM4-40GB", "NVIDIA H200"})).fine == 1);
  CHECK(judge_gpu(0x5a0d5a, target(fs, "host", {"NVIDIA A100-SXM4-40GB"})).findings.size() == 1);
  CHECK(judge_gpu(0x5a0d5a, target(fs, "host", {"NVIDIA Z999"})).open ==
        Texts{"cubin.device: the architecture of NVIDIA Z999 isn't known"});
}

TEST_CASE("GPU code and its metadata") {
  CHECK(compare({{"k", 128}}, {"k", 4}).fine == 2);
  CHECK(compare({{"k", 128}}, {"other", 4}).findings ==
        Texts{"error cubin.kernel: holds k; its metadata names other"});
  CHECK(compare({}, {"other", 4}).findings ==
        Texts{"error cubin.kernel: holds no kernel; its metadata names other"});
  CHECK(compare({{"k", 128}}, {"k", 8}).findings ==
        Texts{"error cubin.threads: was compiled for 128 threads per block; its metadata says 8 warps, 256 "
              "threads"});
  CHECK(compare({{"k"}}, {"k", 8}).open == Texts{"cubin.threads: the number of threads isn't stored"});
  CHECK(compare({{"k", 128}}, {"k", INT64_MAX}).findings.size() == 1);
  CHECK(compare({{"k", 128}}, {"k", INT64_MIN}).findings.size() == 1);
}

TEST_SUITE_END();
