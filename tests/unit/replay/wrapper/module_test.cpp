#include "replay/wrapper/module.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::replay::wrapper;

namespace {

constexpr std::string_view kHead =
    "import torch\n"
    "import triton.language as tl\n"
    "from torch._inductor.async_compile import AsyncCompile\n"
    "from torch._inductor.select_algorithm import extern_kernels\n"
    "aten = torch.ops.aten\n"
    "reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor\n"
    "async_compile = AsyncCompile()\n";

std::string with_head(std::string_view rest) {
  return std::string(kHead) + std::string(rest);
}

}  // namespace

TEST_SUITE_BEGIN("replay/wrapper/module");

TEST_CASE("a module of 2.6: call is a function") {
  const std::string source = with_head(
      "_tensor_constant0 = None\n"
      "cpp_fused_0 = async_compile.cpp_pybinding(['float*'], '''text''')\n"
      "async_compile.wait(globals())\n"
      "del async_compile\n"
      "def call(args):\n    arg0_1, = args\n    return (arg0_1, )\n"
      "def benchmark_compiled_module(times=10, repeat=10):\n    pass\n"
      "if __name__ == \"__main__\":\n    pass\n");
  const auto module = read_module(source);
  REQUIRE_MESSAGE(module, module.error().message);
  REQUIRE(module->call);
  CHECK(module->call->parameter == "args");
  CHECK_FALSE(module->partitions);
  CHECK_FALSE(module->has_recursively_apply_fns);
  CHECK(module->attributes == std::vector<std::string_view>{"_tensor_constant0"});
  REQUIRE(module->kernels.size() == 1);
  CHECK(module->find_kernel("cpp_fused_0")->method == "cpp_pybinding");
  CHECK(module->functions.empty());
}

TEST_CASE("a module of 2.9: call is the runner's method") {
  const std::string source = with_head(
      "def partition_0(args):\n    return ()\n"
      "class Runner:\n"
      "    def __init__(self, partitions):\n        self.partitions = partitions\n"
      "    def call(self, args):\n        return ()\n"
      "runner = Runner(partitions=[partition_0,])\n"
      "call = runner.call\n"
      "recursively_apply_fns = runner.recursively_apply_fns\n");
  const auto module = read_module(source);
  REQUIRE_MESSAGE(module, module.error().message);
  CHECK(module->partitions == std::vector<std::string_view>{"partition_0"});
  CHECK(module->has_recursively_apply_fns);
  REQUIRE(module->call);
  CHECK(std::get<FunctionStmt>(module->tree.statement(module->call->statement).value).parameters.size() == 2);
  CHECK(module->find_function("partition_0") != nullptr);
}

TEST_CASE("names are resolved through imports and aliases") {
  const std::string source = with_head("x = aten.sort.stable\ny = tl.float32\n");
  const auto module = read_module(source);
  REQUIRE(module);
  CHECK(module->aliases.at("aten") == "torch.ops.aten");
  CHECK(module->aliases.at("x") == "torch.ops.aten.sort.stable");
  CHECK(module->aliases.at("y") == "triton.language.float32");
  CHECK(module->aliases.at("extern_kernels") == "torch._inductor.select_algorithm.extern_kernels");
  CHECK(module->aliases.at("reinterpret_tensor") == "torch._C._dynamo.guards._reinterpret_tensor");
}

TEST_CASE("nothing else may stand at the outer level") {
  const auto refused = [](std::string_view line, std::string_view message) {
    const std::string source = with_head(line);
    const auto module = read_module(source);
    REQUIRE_FALSE(module);
    CHECK(module.error().code == ErrorCode::kUnsupported);
    CHECK(module.error().message == "not executable: " + std::string(message));
  };
  refused("os.system('x')\n", "a statement that no wrapper module has at line 8");
  refused("y = open('x')\n", "a call of open at line 8");
  refused("y = [1]\n", "a statement that no wrapper module has at line 8");
  refused("for a in b:\n    pass\n", "a statement that no wrapper module has at line 8");
  refused("class Other:\n    pass\n", "a statement that no wrapper module has at line 8");
  refused("runner = Runner(partitions=[missing])\n", "a statement that no wrapper module has at line 8");
  refused("call = other.call\n", "a statement that no wrapper module has at line 8");
  refused("if x:\n    pass\n", "a statement that no wrapper module has at line 8");
}

TEST_SUITE_END();
