#include "torch/wrapper_runner.h"

#include <doctest/doctest.h>

#include <string>

#include "pickle_text.h"
#include "torch/decode.h"

using namespace cachetool;
using namespace cachetool::torch;

TEST_SUITE_BEGIN("torch/wrapper_runner");

TEST_CASE("a module without a runner offers nothing") {
  for (const std::string_view text :
       {"", "\n", "def call(args):\n    return ()\n", "async_compile.wait(globals())"}) {
    const WrapperRunner runner = scan_runner(text);
    CHECK_FALSE(runner.has_recursively_apply_fns);
    CHECK_FALSE(runner.partitions);
  }
}

TEST_CASE("the lines that torch writes at the module's end") {
  const WrapperRunner runner = scan_runner(
      "class Runner:\n    def recursively_apply_fns(self, fns):\n        pass\n"
      "runner = Runner(partitions=[partition_0,partition_1,])\ncall = runner.call\n"
      "recursively_apply_fns = runner.recursively_apply_fns");
  CHECK(runner.has_recursively_apply_fns);
  CHECK(runner.partitions == 2);
}

TEST_CASE("numbers of partitions") {
  const auto count = [](std::string_view list) {
    return scan_runner("runner = Runner(partitions=[" + std::string(list) + "\n").partitions;
  };
  CHECK(count("])") == 0);
  CHECK(count("a])") == 1);
  CHECK(count("a,])") == 1);
  CHECK(count("a, b])") == 2);
  CHECK(count(" , ,])") == 0);
  CHECK(count("a,\n b,\n])") == 2);
  CHECK(count("a,b") == 2);
}

TEST_CASE("only attributes of the module count") {
  CHECK_FALSE(scan_runner("    recursively_apply_fns = f\n").has_recursively_apply_fns);
  CHECK_FALSE(scan_runner("    runner = Runner(partitions=[a,])\n").partitions);
  CHECK_FALSE(scan_runner("x = 1; recursively_apply_fns = f\n").has_recursively_apply_fns);
  CHECK(scan_runner("def recursively_apply_fns(fns):\n").has_recursively_apply_fns);
  CHECK(scan_runner("\nrecursively_apply_fns = f").has_recursively_apply_fns);
}

TEST_CASE("the last assignment holds") {
  CHECK(scan_runner("runner = Runner(partitions=[a,])\nrunner = Runner(partitions=[])\n").partitions == 0);
}

TEST_CASE("real modules: none in 2.6, one partition in 2.15") {
  const auto scan = [](std::string_view name) {
    const std::string bytes = pickle_text::entry_file(name);
    Budget budget = Budget::for_input(bytes.size());
    const auto decoded = decode_entry(bytes, budget);
    REQUIRE(decoded);
    return scan_runner(decoded->fx_graph()->source_code.value_or({}));
  };
  CHECK_FALSE(scan("fxgraph-2.6.0-cuda.pkl").has_recursively_apply_fns);
  CHECK_FALSE(scan("fxgraph-2.6.0-cuda.pkl").partitions);
  CHECK(scan("fxgraph-2.15.0-cuda-parameter.pkl").has_recursively_apply_fns);
  CHECK(scan("fxgraph-2.15.0-cuda-parameter.pkl").partitions == 1);
}

TEST_SUITE_END();
