#include "replay/integer_inputs.h"

#include <doctest/doctest.h>

#include <string>

using namespace cachetool::replay;

namespace {

std::string found(std::string_view source, std::string_view function = "call") {
  const auto call = call_inputs(source, function);
  if (!call) return "none";
  std::string text = std::to_string(call->count) + ":";
  for (const IntegerInput& input : call->integers)
    text += " " + std::to_string(input.position) + "=" + std::string(input.symbol);
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("replay/integer_inputs");

TEST_CASE("sizes of a whole graph, as 2.6 and later releases write it") {
  CHECK(found("def call(args):\n    a, b, c = args\n    args.clear()\n    s1 = c\n    s0 = a\n    x = y\n") ==
        "3: 0=s0 2=s1");
  CHECK(found("class Runner:\n    def call(self, args):\n        arg0_1, = args\n        args.clear()\n"
              "        s77 = arg0_1\n") == "1: 0=s77");
  CHECK(found("def call(self, args):\n    a, b = args\n    assert_size_stride(a, (2,), (1,))\n") == "2:");
}

TEST_CASE("sizes of a partition") {
  const std::string_view source =
      "def partition_0(args):\n    a, s1 = args\n    args.clear()\n    s1 = s1\n    s2 = a\n"
      "def partition_12(args):\n    u0, b = args\n";
  CHECK(found(source, "partition_0") == "2: 0=s2 1=s1");
  CHECK(found(source, "partition_12") == "2: 0=u0");
  CHECK(found(source, "partition_1") == "none");
}

TEST_CASE("only what has the form is read") {
  CHECK(found("") == "none");
  CHECK(found("def call(self, args):") == "none");
  CHECK(found("def call(self, args):\n") == "none");
  CHECK(found("def call(self, args):\n    a = other\n") == "none");
  CHECK(found("def call(self, args):\n    f(a), b = args\n") == "none");
  CHECK(found("# def call(args):\n    a = args\n") == "none");
  CHECK(found("def call(args): # x\n    a = args\n") == "none");
  CHECK(found("def call(args):\n    a, b = args\n    s1 = b\n    s2 = z\n    s3 = a\n") == "2: 1=s1");
  CHECK(found("def call(args):\n    a, b = args\n    size = b\n    s3 = a\n") == "2:");
}

TEST_SUITE_END();
