#include "torch/graph_signature.h"

#include <doctest/doctest.h>

using namespace cachetool::torch;

TEST_CASE("a graph printed on one line gives inputs and outputs") {
  const auto signature = graph_signature(
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"Sym(s97)\", arg1_1: \"f32[s97, 6][6, 1]cpu\", arg2_1):\n"
      "         # File: a.py:40 in pw, code: return (x, y)\n"
      "        mul: \"bf16[s97 - 1, 6][6, 1]cuda:0\" = torch.ops.aten.mul.Tensor(arg1_1, 2.0);  arg1_1 = "
      "None\n"
      "        return (mul, None, arg0_1)\n");
  REQUIRE(signature.inputs.size() == 3);
  CHECK(signature.inputs[0].dtype == "int");
  CHECK(signature.inputs[0].size == "s97");
  CHECK(signature.inputs[1].name == "arg1_1");
  CHECK(signature.inputs[1].dtype == "float32");
  CHECK(signature.inputs[1].size == "s97, 6");
  CHECK(signature.inputs[1].stride == "6, 1");
  CHECK(signature.inputs[1].device == "cpu");
  CHECK(signature.inputs[2].name == "arg2_1");
  CHECK(signature.inputs[2].dtype.empty());
  REQUIRE(signature.outputs.size() == 3);
  CHECK(signature.outputs[0].dtype == "bfloat16");
  CHECK(signature.outputs[0].size == "s97 - 1, 6");
  CHECK(signature.outputs[0].device == "cuda:0");
  CHECK(signature.outputs[1].dtype.empty());
  CHECK(signature.outputs[2].dtype == "int");
}

TEST_CASE("a parameter a line, with remarks") {
  const auto signature = graph_signature(
      "class GraphModule(torch.nn.Module):\n    def forward(\n        self,\n"
      "        primals_1: \"f32[8, 4][4, 1]cpu\",  # PlainAOTInput(idx=0)\n"
      "        tangents_1: \"f32[][]cpu\",  # TangentAOTInput(output=PlainAOTOutput(idx=0))\n    ):\n"
      "        return [primals_1]\n");
  REQUIRE(signature.inputs.size() == 2);
  CHECK(signature.inputs[0].size == "8, 4");
  CHECK(signature.inputs[1].name == "tangents_1");
  CHECK(signature.inputs[1].size.empty());
  REQUIRE(signature.outputs.size() == 1);
  CHECK(signature.outputs[0].name == "primals_1");
}

TEST_CASE("a return statement over several lines, with remarks") {
  const auto signature = graph_signature(
      "def forward(self, primals_1: \"f32[8][1]cpu\"):\n"
      "        exp: \"f32[8, 4][4, 1]cuda:0\" = torch.ops.aten.exp.default(primals_1)\n"
      "        return (\n"
      "            exp,  # PlainAOTOutput(idx=0)\n"
      "            None,  # None\n"
      "            primals_1,  # SavedForBackwardsAOTOutput(idx=0)\n"
      "        )\n"
      "        \n"
      "ignored\n");
  REQUIRE(signature.outputs.size() == 3);
  CHECK(signature.outputs[0].size == "8, 4");
  CHECK(signature.outputs[0].device == "cuda:0");
  CHECK(signature.outputs[1].dtype.empty());
  CHECK(signature.outputs[2].name == "primals_1");
}

TEST_CASE("anything else gives nothing") {
  CHECK(graph_signature("").empty());
  CHECK(graph_signature("def forward(").empty());
  CHECK(graph_signature("print('hello')").empty());
  CHECK(wrapper_signature("def call(args):\n    x = rand_strided((1,), (1,))\n").empty());
}

TEST_CASE("a wrapper's own test inputs") {
  const auto signature = wrapper_signature(
      "def call(args):\n    pass\n\n"
      "def benchmark_compiled_module(times=10, repeat=10):\n"
      "    arg0_1 = rand_strided((32, 16), (16, 1), device='cuda:0', dtype=torch.float32)\n"
      "    arg1_1 = rand_strided((32, ), (1, ), device='cpu', dtype=torch.int64)\n"
      "    arg2_1 = 5\n");
  REQUIRE(signature.inputs.size() == 2);
  CHECK(signature.inputs[0].name == "arg0_1");
  CHECK(signature.inputs[0].size == "32, 16");
  CHECK(signature.inputs[0].stride == "16, 1");
  CHECK(signature.inputs[0].device == "cuda:0");
  CHECK(signature.inputs[1].size == "32");
  CHECK(signature.inputs[1].dtype == "int64");
}
