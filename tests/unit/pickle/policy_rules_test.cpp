// The allow list's own consistency, and the small languages of its columns.

#include "pickle/policy_rules.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "pickle/policy_shapes.h"
#include "pickle/python2_names.h"

using namespace cachetool::pickle;

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

bool is_known_kind(std::string kind) {
  if (kind.starts_with('=')) return kind.size() > 1;
  if (kind.starts_with('@')) return kind.find('.') != std::string::npos;
  for (const char* known :
       {"none",      "bool",     "int",    "text",       "scalar",  "tuple", "list",  "dict",
        "container", "sequence", "name",   "persistent", "version", "ints",  "sizes", "factory",
        "expr",      "storage",  "tensor", "hooks",      "stream",  "pickle"}) {
    if (kind == known) return true;
  }
  return false;
}

}  // namespace

TEST_SUITE("pickle/policy rules") {
  TEST_CASE("every line can be followed") {
    REQUIRE(rules().size() > 500);
    for (const Rule& rule : rules()) {
      CAPTURE(rule.module);
      CAPTURE(rule.name);
      CHECK(rule.roles != 0);
      CHECK((!rule.releases.empty() || !rule.reason.empty()));
      CHECK(rule.releases.empty() == rule.places.empty());
      CHECK(((rule.roles & kState) != 0) == !rule.states.empty());
      CHECK(find_rule(rule.module, rule.name) == &rule);
      if (rule.arguments.empty() || rule.arguments == "attribute") continue;
      for (std::string argument : split(rule.arguments, ' ')) {
        if (argument.ends_with('?') || argument.ends_with('*')) argument.pop_back();
        for (const std::string& kind : split(argument, '|')) CHECK(is_known_kind(kind));
      }
    }
  }

  TEST_CASE("nothing that is known to do harm is listed, but for what its arguments make harmless") {
    for (const Rule& rule : rules()) {
      if (danger_of(rule.module, rule.name).empty()) continue;
      const bool checked = rule.arguments == "attribute" || rule.arguments == "pickle" ||
                           rule.arguments == "stream" || rule.arguments.find('=') != std::string_view::npos ||
                           rule.roles == kField || rule.module == "inspect" ||
                           rule.module == "torch._inductor.codecache" || rule.module == "torch.storage" ||
                           rule.module == "itertools";
      CAPTURE(rule.module);
      CAPTURE(rule.name);
      CHECK(checked);
    }
  }

  TEST_CASE("arguments are taken in order, each by its kind") {
    const Value one = Value::integer(1);
    const Value text = Value::text(Tag::kString, "latin1");
    const Value two_numbers[] = {one, one};
    const Value text_and_number[] = {text, one};
    CHECK(fits("", {}));
    CHECK_FALSE(fits("", two_numbers));
    CHECK(fits("int int", two_numbers));
    CHECK(fits("int*", two_numbers));
    CHECK(fits("int*", {}));
    CHECK(fits("text? int int?", text_and_number));
    CHECK(fits("text? int int?", two_numbers));
    CHECK_FALSE(fits("int int int", two_numbers));
    CHECK_FALSE(fits("int", two_numbers));
    CHECK_FALSE(fits("int?", two_numbers));
    CHECK(fits("none|=latin1 scalar", text_and_number));
    CHECK_FALSE(fits("=latin2 int", text_and_number));
    CHECK_FALSE(fits("nosuchkind int", two_numbers));
    CHECK_FALSE(fits("bool int", two_numbers));
  }

  TEST_CASE("attributes with a meaning of their own") {
    for (const char* name : {"a", "source_code", "_boxed_call", "__private", "a__", "A1"}) {
      CAPTURE(name);
      CHECK(is_plain_attribute(name));
    }
    for (const char* name : {"", "__setstate__", "_sympy_", "__class__", "_", "__", "a b", "a.b", "extend",
                             "append", "add", "\xc3\xa9", "a\n"}) {
      CAPTURE(name);
      CHECK_FALSE(is_plain_attribute(name));
    }
  }

  TEST_CASE("names that Python 2 had") {
    CHECK(python3_name("__builtin__", "eval").module == "builtins");
    CHECK(python3_name("__builtin__", "reduce").module == "functools");
    CHECK(python3_name("itertools", "imap").name == "map");
    CHECK(python3_name("copy_reg", "_reconstructor").module == "copyreg");
    CHECK(python3_name("commands", "getoutput").module == "subprocess");
    CHECK(python3_name("torch", "float32").module == "torch");
    CHECK(python3_name("os", "system").name == "system");
    CHECK(python3_name("", "").module.empty());
    for (const Rule& rule : rules()) {  // no listed name becomes another
      CHECK(python3_name(rule.module, rule.name).module == rule.module);
      CHECK(python3_name(rule.module, rule.name).name == rule.name);
    }
  }

  TEST_CASE("functions of stored graphs") {
    CHECK(allowed_graph_function("torch", "nn.functional.silu"));
    CHECK(allowed_graph_function("torch", "rsqrt"));
    CHECK(allowed_graph_function("torch", "_C._nn.linear"));
    CHECK(allowed_graph_function("operator", "getitem"));
    CHECK_FALSE(allowed_graph_function("torch", "os.system"));
    CHECK_FALSE(allowed_graph_function("torch", "save"));
    CHECK_FALSE(allowed_graph_function("torch", "_C._jit_to_backend"));
    CHECK_FALSE(allowed_graph_function("einops", "os.system"));
    CHECK_FALSE(allowed_graph_function("torch", ""));
    CHECK_FALSE(allowed_graph_function("sys", "exit"));
  }

  TEST_CASE("words are whole words") {
    CHECK(has_word("a bc d", "bc"));
    CHECK_FALSE(has_word("a bc d", "b"));
    CHECK_FALSE(has_word("abc", "bc"));
    CHECK_FALSE(has_word("", "a"));
    CHECK_FALSE(has_word("a b", ""));
  }
}
