#include "replay/wrapper/parser.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::replay::wrapper;

namespace {

Tree parse(std::string_view source) {
  auto tree = parse_module(source);
  REQUIRE_MESSAGE(tree, tree.error().message);
  return std::move(*tree);
}

Error error_of(std::string_view source, const ParserLimits& limits = {}) {
  const auto tree = parse_module(source, limits);
  REQUIRE_FALSE(tree);
  return tree.error();
}

template <class T>
const T& only(const Tree& tree) {
  REQUIRE(tree.body.size() == 1);
  const T* value = std::get_if<T>(&tree.statement(tree.body[0]).value);
  REQUIRE(value != nullptr);
  return *value;
}

template <class T>
const T& as(const Tree& tree, ExpressionId id) {
  const T* value = std::get_if<T>(&tree[id].value);
  REQUIRE(value != nullptr);
  return *value;
}

}  // namespace

TEST_SUITE_BEGIN("replay/wrapper/parser");

TEST_CASE("an allocation") {
  const Tree tree = parse("buf0 = empty_strided_cpu((16, 2*s27), (1, 16), torch.float32)\n");
  const auto& assign = only<AssignStmt>(tree);
  REQUIRE(assign.targets.size() == 1);
  CHECK(as<NameExpr>(tree, assign.targets[0]).name == "buf0");
  const auto& call = as<CallExpr>(tree, assign.value);
  CHECK(as<NameExpr>(tree, call.function).name == "empty_strided_cpu");
  REQUIRE(call.arguments.size() == 3);
  const auto& size = as<TupleExpr>(tree, call.arguments[0]);
  CHECK(as<IntegerExpr>(tree, size.items[0]).value == 16);
  CHECK(as<BinaryExpr>(tree, size.items[1]).op == BinaryOp::kMultiply);
  const auto& dtype = as<AttributeExpr>(tree, call.arguments[2]);
  CHECK(dtype.name == "float32");
}

TEST_CASE("unpacking, one and several") {
  const Tree one = parse("arg0_1, = args\n");
  CHECK(as<TupleExpr>(one, only<AssignStmt>(one).targets[0]).items.size() == 1);
  const Tree two = parse("(a, [b, c]) = x\n");
  CHECK(as<TupleExpr>(two, only<AssignStmt>(two).targets[0]).items.size() == 2);
  const Tree chain = parse("a = b = 1\n");
  CHECK(only<AssignStmt>(chain).targets.size() == 2);
}

TEST_CASE("precedence") {
  const Tree tree = parse("x = a + b * -c ** 2\n");
  const auto& sum = as<BinaryExpr>(tree, only<AssignStmt>(tree).value);
  CHECK(sum.op == BinaryOp::kAdd);
  const auto& product = as<BinaryExpr>(tree, sum.right);
  CHECK(product.op == BinaryOp::kMultiply);
  const auto& negated = as<UnaryExpr>(tree, product.right);
  CHECK(negated.op == UnaryOp::kNegate);
  CHECK(as<BinaryExpr>(tree, negated.operand).op == BinaryOp::kPower);
}

TEST_CASE("a range check as wrappers write it") {
  const Tree tree = parse("if not u0 >= 0:\n    raise RuntimeError('u0 >= 0')\n");
  const auto& check = only<IfStmt>(tree);
  const auto& negation = as<UnaryExpr>(tree, check.condition);
  CHECK(negation.op == UnaryOp::kNot);
  CHECK(as<CompareExpr>(tree, negation.operand).comparisons[0] == Comparison::kGreaterEqual);
  CHECK(std::holds_alternative<RaiseStmt>(tree.statement(check.then[0]).value));
}

TEST_CASE("elif is an if in the other branch") {
  const Tree tree = parse("if a: b\nelif c: d\nelse: e\n");
  const auto& first = only<IfStmt>(tree);
  REQUIRE(first.otherwise.size() == 1);
  CHECK(std::get<IfStmt>(tree.statement(first.otherwise[0]).value).otherwise.size() == 1);
}

TEST_CASE("classes, functions, loops and device guards") {
  const Tree tree = parse(
      "class Runner:\n"
      "    def call(self, args):\n"
      "        with torch.cuda._DeviceGuard(0):\n"
      "            for fn, c in zip(fns, self.partitions):\n"
      "                new_callables.append(fn(c))\n"
      "        return (buf0, None, )\n");
  const auto& runner = only<ClassStmt>(tree);
  CHECK(runner.name == "Runner");
  const auto& call = std::get<FunctionStmt>(tree.statement(runner.body[0]).value);
  CHECK(call.parameters.size() == 2);
  const auto& with = std::get<WithStmt>(tree.statement(call.body[0]).value);
  const auto& loop = std::get<ForStmt>(tree.statement(with.body[0]).value);
  CHECK(as<TupleExpr>(tree, loop.target).items.size() == 2);
  const auto& result = std::get<ReturnStmt>(tree.statement(call.body[1]).value);
  CHECK(as<TupleExpr>(tree, *result.value).items.size() == 2);
}

TEST_CASE("imports are recorded with the name they bind") {
  const Tree tree = parse("import a.b\nimport c as d\nfrom e.f import (g as h, i)\n");
  REQUIRE(tree.body.size() == 4);
  const auto import = [&](std::size_t i) { return std::get<ImportStmt>(tree.statement(tree.body[i]).value); };
  CHECK(import(0).alias == "a");
  CHECK(import(1).alias == "d");
  CHECK(import(2).module == "e.f");
  CHECK(import(2).alias == "h");
  CHECK(import(3).name == "i");
}

TEST_CASE("kernel texts are evaluated") {
  const Tree tree = parse("k = async_compile.triton('t', r'''a\\n\n''' 'b', device_str='cuda')\n");
  const auto& call = as<CallExpr>(tree, only<AssignStmt>(tree).value);
  CHECK(as<StringExpr>(tree, call.arguments[1]).text == "a\\n\nb");
  REQUIRE(call.keywords.size() == 1);
  CHECK(call.keywords[0].name == "device_str");
}

TEST_CASE("integers of 64 bits, with the smallest") {
  const Tree tree = parse("x = (-9223372036854775808, 9223372036854775807, 0x10, 1e3)\n");
  const auto& tuple = as<TupleExpr>(tree, only<AssignStmt>(tree).value);
  CHECK(as<IntegerExpr>(tree, tuple.items[0]).value == INT64_MIN);
  CHECK(as<IntegerExpr>(tree, tuple.items[1]).value == INT64_MAX);
  CHECK(as<IntegerExpr>(tree, tuple.items[2]).value == 16);
  CHECK(as<FloatExpr>(tree, tuple.items[3]).value == 1000);
  CHECK(error_of("x = 9223372036854775808\n").code == ErrorCode::kUnsupported);
}

TEST_CASE("Python outside of the language is named with its line") {
  const auto refused = [](std::string_view source, std::string_view construct) {
    const Error error = error_of(source);
    CHECK(error.code == ErrorCode::kUnsupported);
    CHECK(error.message == "not executable: " + std::string(construct));
    CHECK(error.offset.has_value());
  };
  refused("x = 1\n@f\ndef g(): pass\n", "a decorator at line 2");
  refused("try:\n  pass\nexcept E:\n  pass\n", "'try' at line 1");
  refused("f(*a)\n", "a starred argument at line 1");
  refused("f(**a)\n", "a starred argument at line 1");
  refused("x = [a for a in b]\n", "a list comprehension at line 1");
  refused("x = {a: 1 for a in b}\n", "a dict comprehension at line 1");
  refused("x = {1, 2}\n", "a set at line 1");
  refused("f(a for a in b)\n", "a generator expression at line 1");
  refused("x: int = 1\n", "an annotated assignment at line 1");
  refused("def f(*a): pass\n", "a parameter of another kind than positional at line 1");
  refused("def f() -> int: pass\n", "an annotation at line 1");
  refused("from a import *\n", "'import *' at line 1");
  refused("yield x\n", "'yield' at line 1");
  refused("if (x := 1): pass\n", "':=' at line 1");
  refused("a, *b = c\n", "a starred value at line 1");
  refused("while a: pass\nelse: pass\n", "'while … else' at line 2");
}

TEST_CASE("what is no Python") {
  CHECK(error_of("x = \n").message == "expected a value, found the end of the line at line 1");
  CHECK(error_of("f(1 2)\n").message == "expected ')', found '2' at line 1");
  CHECK(error_of("1 = x\n").message == "something that can't be assigned to at line 1");
  CHECK(error_of("del f()\n").message == "something that can't be assigned to at line 1");
  CHECK(error_of("def f(:\n").code == ErrorCode::kTruncated);
  CHECK(error_of("if a:\nb\n").message == "expected an indented line, found 'b' at line 2");
  CHECK(error_of("for = 1\n").code == ErrorCode::kMalformed);
  CHECK(error_of("x = 'a' b'b'\n").code == ErrorCode::kMalformed);
}

TEST_CASE("depth is bounded") {
  ParserLimits limits;
  limits.max_depth = 20;
  CHECK(error_of("x = " + std::string(30, '(') + "1" + std::string(30, ')') + "\n", limits).code ==
        ErrorCode::kLimitDepth);
  CHECK(error_of("x = " + std::string(100000, '-') + "1\n").code == ErrorCode::kLimitDepth);
  std::string nots = "x = ";
  for (int i = 0; i < 1000; ++i) nots += "not ";
  CHECK(error_of(nots + "1\n").code == ErrorCode::kLimitDepth);
  std::string chain = "if a: b\n";
  for (int i = 0; i < 1000; ++i) chain += "elif a: b\n";
  CHECK(error_of(chain).code == ErrorCode::kLimitDepth);
}

TEST_SUITE_END();
