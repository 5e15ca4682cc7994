#include "container/python_literal.h"

#include <string>

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::container;

namespace {
std::string decoded(std::string_view source) {
  const auto result = read_python_string(source, 0);
  REQUIRE(result);
  CHECK(result->end == source.size());
  return result->text;
}
}  // namespace

TEST_SUITE("container/python_string") {
  TEST_CASE("escapes mean what CPython makes of them") {
    CHECK(decoded("'a\\n\\t\\\\\\'\\\"'") == "a\n\t\\'\"");
    CHECK(decoded("\"\\x41\\101\\u20ac\\U0001F600\\q\"") == "AA\u20ac\U0001F600\\q");
    CHECK(decoded("'\\777'") == "\u01ff");
    CHECK(decoded("'one\\\ntwo'") == "onetwo");
    CHECK(decoded("'\\ud800'") == "\xed\xa0\x80");
    CHECK(decoded("b'\\xff\\777\\u0041'") == "\xff\xff\\u0041");
  }

  TEST_CASE("raw and triple-quoted strings as wrappers have them") {
    CHECK(decoded("r'\\n\\''") == "\\n\\'");
    CHECK(decoded("R\"\"\"a\\\\\"b\"\"\"") == "a\\\\\"b");
    CHECK(decoded("'''\nimport triton\n'quoted' ''x\r\ny\rz'''") == "\nimport triton\n'quoted' ''x\ny\nz");
    CHECK(decoded("rb'\\x00'") == "\\x00");
    CHECK(decoded("''") == "");
    CHECK(decoded("''''''") == "");
  }

  TEST_CASE("decoding starts anywhere and tells where the literal ends") {
    const std::string_view source = "k = async_compile.triton('name', r'''body''', device_str='cuda')";
    const auto name = read_python_string(source, source.find('\''));
    REQUIRE(name);
    CHECK(name->text == "name");
    CHECK(source.substr(name->end, 2) == ", ");
    const auto body = read_python_string(source, name->end + 2);
    REQUIRE(body);
    CHECK(body->text == "body");
    CHECK(source.substr(body->end).starts_with(", device_str"));
  }

  TEST_CASE("what is no literal or has no end") {
    CHECK(starts_python_string("bR'x'", 0));
    CHECK_FALSE(starts_python_string("f'x'", 0));
    CHECK_FALSE(starts_python_string("ub'x'", 0));
    CHECK_FALSE(starts_python_string("rrr'x'", 0));
    CHECK_FALSE(starts_python_string("x", 5));
    CHECK(read_python_string("'abc", 0).error().code == ErrorCode::kTruncated);
    CHECK(read_python_string("'''abc''", 0).error().code == ErrorCode::kTruncated);
    CHECK(read_python_string("'abc\\", 0).error().code == ErrorCode::kTruncated);
    CHECK(read_python_string("r'abc\\", 0).error().code == ErrorCode::kTruncated);
    CHECK(read_python_string("'a\nb'", 0).error().offset == 2u);
    CHECK(read_python_string("'\\x4'", 0).error().code == ErrorCode::kMalformed);
    CHECK(read_python_string("'\\U00110000'", 0).error().code == ErrorCode::kMalformed);
    CHECK(read_python_string("'\\N{BULLET}'", 0).error().code == ErrorCode::kUnsupported);
    CHECK(read_python_string("b'\xc3\xa9'", 0).error().code == ErrorCode::kMalformed);
  }
}

TEST_SUITE("container/python_literal") {
  TEST_CASE("vLLM's index of releases 0.13 to 0.15") {
    const auto tree = read_python_literal(
        "{   ((1, 2048), 0, 'inductor_standalone'): ( 'artifact_compile_range_1_2048_subgraph_0',\n"
        "                                              '/home/my '\n"
        "                                              'user/x'),\n"
        "    (None, 1, 'inductor'): {'cache_key': None, 'graph_handle': ('f1', \"p\")}}");
    REQUIRE(tree);
    const Node map = tree->root();
    REQUIRE(map.kind() == NodeKind::kMap);
    CHECK(map.size() == 2);
    const Node key = *map.first();
    REQUIRE(key.kind() == NodeKind::kTuple);
    CHECK(key.size() == 3);
    CHECK(key.at(0)->at(1)->as_integer() == 2048);
    CHECK(key.at(2)->text() == "inductor_standalone");
    const Node handle = *key.next();
    CHECK(handle.at(1)->text() == "/home/my user/x");
    const Node second = *handle.next();
    CHECK(second.at(0)->kind() == NodeKind::kNull);
    CHECK(second.next()->find("graph_handle")->at(0)->text() == "f1");
    CHECK_FALSE(second.next()->next());
  }

  TEST_CASE("parentheses: a group is no tuple") {
    const auto tree =
        read_python_literal("[(1), (1,), (), (('a' 'b')), ((1, 2), 3), -5, 1_000, b'x' b'y', 2.5, True]");
    REQUIRE(tree);
    const Node list = tree->root();
    REQUIRE(list.size() == 10);
    CHECK(list.at(0)->as_integer() == 1);
    CHECK(list.at(1)->kind() == NodeKind::kTuple);
    CHECK(list.at(1)->size() == 1);
    CHECK(list.at(2)->kind() == NodeKind::kTuple);
    CHECK(list.at(2)->size() == 0);
    CHECK_FALSE(list.at(2)->first());
    CHECK(list.at(3)->text() == "ab");
    CHECK(list.at(4)->at(0)->at(1)->as_integer() == 2);
    CHECK(list.at(4)->at(1)->as_integer() == 3);
    CHECK(list.at(5)->as_integer() == -5);
    CHECK(list.at(6)->as_integer() == 1000);
    CHECK(list.at(7)->kind() == NodeKind::kBytes);
    CHECK(list.at(7)->text() == "xy");
    CHECK(list.at(8)->as_float() == 2.5);
    CHECK(list.at(9)->as_bool());
    const auto group = read_python_literal("(('x'))");
    REQUIRE(group);
    CHECK(group->root().text() == "x");
  }

  TEST_CASE("nothing but literals") {
    for (const char* text : {"",
                             "{",
                             "[1 2]",
                             "{1}",
                             "{1:}",
                             "{1:2,,}",
                             "[1,,2]",
                             "(,)",
                             "[1}",
                             "f()",
                             "__import__('os')",
                             "1+1",
                             "[x]",
                             "{'a': 1} 2",
                             "'a' b'b'",
                             "01",
                             "0x1",
                             "1__0",
                             "1_",
                             "-",
                             "--1",
                             "1e",
                             "None1",
                             "[:1]",
                             "{1:2:3}",
                             "lambda: 0",
                             "]",
                             "1j",
                             "nan",
                             "inf",
                             "-inf"}) {
      CAPTURE(text);
      CHECK_FALSE(read_python_literal(text));
    }
    CHECK(read_python_literal(" # comment\n [ 1 , # one\n ] \n"));
    CHECK(read_python_literal("{1: 2, }"));
    CHECK(read_python_literal("{'a' 'b': {}, (): []}"));
  }

  TEST_CASE("limits") {
    CHECK(read_python_literal(std::string(100'000, '(')).error().code == ErrorCode::kLimitDepth);
    TreeLimits limits;
    limits.max_nodes = 2;
    CHECK(read_python_literal("[1, 2]", limits).error().code == ErrorCode::kLimitMemory);
    limits.max_bytes = 1;
    CHECK(read_python_literal("[]", limits).error().code == ErrorCode::kLimitSize);
  }
}
