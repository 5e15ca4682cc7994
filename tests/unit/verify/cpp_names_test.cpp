#include "verify/cpp_names.h"

#include <doctest/doctest.h>

#include "torch/key.h"
#include "unit/verify/own_lines.h"
#include "verify/build_paths.h"
#include "verify/compile_commands.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/cpp_names");

namespace {

const std::string kTorch = "/opt/torch-2.15.0/lib/python3.11/site-packages/torch/include";
const std::string kPython = "/opt/python-3.11/include/python3.11";

std::string kernel(int number) {
  return "\n#include <x>\nextern \"C\" void kernel(float* p) { p[" + std::to_string(number) +
         "] = 0; }\n// Python bindings to call kernel\n";
}

/// A cache of kernels, named after their texts and a command.
struct Kernels {
  MemoryFileSystem fs;
  Kernels() { fs.add_dir("/cache/fxgraph"); }
  /// The place of the source, without its suffix.
  std::string add(const std::string& text, const std::string& command) {
    const std::string stem = torch::code_hash(torch::python_strip(text), command).str();
    const std::string path = stem.substr(1, 2) + "/" + stem + ".main";
    fs.add_file("/cache/" + path + ".cpp", text);
    return path;
  }
  void add_library(const std::string& place) {
    fs.add_file("/cache/" + place + ".so",
                "\x7f"
                "ELF" +
                    std::string(100, '\0') + kTorch + "/c10/util" + std::string(1, '\0') + kPython +
                    std::string(1, '\0'));
  }
  verify::Result verify(std::vector<std::string> commands = {}) {
    verify::Options options;
    options.compile_commands = std::move(commands);
    verify::Result result = own_result(fs, options);
    std::erase_if(result.findings, [](const verify::Finding& finding) {
      return finding.check != &verify::checks::kCppSourceName;
    });
    return result;
  }
};

}  // namespace

TEST_CASE("a command that was given verifies every kernel") {
  const std::string command = "None g++ i -O3 -o o.so -L/lib ";
  Kernels cache;
  cache.add(kernel(1), command);
  const std::string changed = cache.add(kernel(2), command);
  cache.fs.add_file("/cache/" + changed + ".cpp", kernel(3));
  cache.fs.add_file("/cache/" + changed + ".so", "library");
  for (const std::string& given :
       {command, std::string("g++ i -O3 -o o.so -L/lib"), std::string("g++ i -O3 -o o.so -L/lib \n")}) {
    CAPTURE(given);
    const verify::Result result = cache.verify({"something else", given});
    REQUIRE(ids_of(result) == Lines{"error cpp-source.name"});
    CHECK(result.findings[0].path == changed + ".cpp");
    CHECK(result.findings[0].repair == Lines{changed + ".cpp", changed + ".so"});
    CHECK(checked(result, verify::checks::kCppSourceName) == 2);
  }
  const verify::Result without = cache.verify();
  CHECK(without.findings.empty());
  CHECK(not_checkable(without, verify::checks::kCppSourceName) == 2);
}

TEST_CASE("a source that alone fits nothing is told of, several may have other flags") {
  verify::BuildPaths paths;
  paths.torch = {kTorch};
  paths.python = {kPython};
  const std::string command = verify::default_commands(paths).front();
  Kernels cache;
  cache.add_library(cache.add(kernel(1), command));
  const std::string changed = cache.add(kernel(2), command);
  cache.fs.add_file("/cache/" + changed + ".cpp", kernel(2) + "// more");
  CHECK(ids_of(cache.verify()) == Lines{"warning cpp-source.name"});
  cache.add(kernel(3), "other flags");
  const verify::Result mixed = cache.verify();
  CHECK(mixed.findings.empty());
  CHECK(not_checkable(mixed, verify::checks::kCppSourceName) == 2);
}

TEST_CASE("torch 2.6 hashes the command's repr") {
  Kernels cache;
  const std::string stem = torch::code_hash(torch::python_strip(kernel(1)), "'g++ i -O3 -o o.so'").str();
  cache.fs.add_file("/cache/" + store_tests::shard_file(stem, "cpp"), kernel(1));
  CHECK(checked(cache.verify({"g++ i -O3 -o o.so"}), verify::checks::kCppSourceName) == 1);
}

TEST_CASE("a library says enough of its build to work its kernel's name out") {
  // As torch 2.15.0 hashed it on a machine with AVX-512 VNNI.
  const std::string command =
      "None g++ i -D TORCH_INDUCTOR_CPP_WRAPPER -D STANDALONE_TORCH_HEADER -D "
      "TORCH_INDUCTOR_PRECOMPILE_HEADERS "
      "-D  C10_USING_CUSTOM_GENERATED_MACROS -D CPU_CAPABILITY_AVX512  -O3 -DNDEBUG -fno-omit-frame-pointer "
      "-g1 "
      "-fno-trapping-math -funsafe-math-optimizations -ffinite-math-only -fno-signed-zeros "
      "-fno-finite-math-only "
      "-fno-unsafe-math-optimizations -fmath-errno -ffp-contract=off -fexcess-precision=fast "
      "-fno-tree-loop-vectorize -march=native -shared -fPIC -Wall -std=c++20 -Wno-unused-variable "
      "-Wno-unknown-pragmas -pedantic -fopenmp  -I" +
      kPython + " -I" + kTorch + " -I" + kTorch +
      "/torch/csrc/api/include   -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mavx512vnni -mavx512vl  "
      "-o "
      "o.so  -ltorch -ltorch_cpu -ltorch_python -lgomp  -L/opt/python-3.11/lib "
      "-L/opt/torch-2.15.0/lib/python3.11/site-packages/torch/lib ";
  Kernels cache;
  cache.add_library(cache.add(kernel(1), command));
  cache.add(kernel(2), command);  // its library is gone
  const std::string changed = cache.add(kernel(3), command);
  cache.add_library(changed);
  cache.fs.add_file("/cache/" + changed + ".cpp", kernel(4));
  cache.add(kernel(5), "None another command");  // nothing says how it was built
  const verify::Result result = cache.verify();
  REQUIRE(ids_of(result) == Lines{"error cpp-source.name"});
  CHECK(result.findings[0].path == changed + ".cpp");
  CHECK(checked(result, verify::checks::kCppSourceName) == 3);
  CHECK(not_checkable(result, verify::checks::kCppSourceName) == 1);
}

TEST_CASE("probes and what torch appends to are never fine") {
  Kernels cache;
  const std::string stem = store_tests::hash_name('c', 'q');
  cache.fs.add_file("/cache/" + store_tests::shard_file(stem, "wrapper.cpp"), kernel(1));
  cache.fs.add_file("/cache/" + store_tests::shard_file(stem, "cpp"), "int __avx_chk_kernel();\n");
  const verify::Result result = cache.verify({"whatever"});
  CHECK(result.findings.empty());
  CHECK(checked(result, verify::checks::kCppSourceName) == 0);
  CHECK(not_checkable(result, verify::checks::kCppSourceName) == 2);
}

TEST_CASE("paths in a library") {
  const verify::BuildPaths paths = verify::find_build_paths(
      std::string("x\0/usr/lib/python3/dist-packages/torch/include/ATen\0\"/a/include/python3.13t/x\0", 78) +
      "/include/python3. relative-packages/torch/include");
  CHECK(paths.torch == Lines{"/usr/lib/python3/dist-packages/torch/include"});
  CHECK(paths.python == Lines{"/a/include/python3.13t"});
  CHECK(verify::find_build_paths("").torch.empty());
}

TEST_SUITE_END();
