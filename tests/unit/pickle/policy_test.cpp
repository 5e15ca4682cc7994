#include "pickle/policy.h"

#include <string>

#include <doctest/doctest.h>

#include "pickle/policy_rules.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

// Pieces of pickles, protocol 4.
std::string text(std::string_view value) {
  return std::string("\x8c") + static_cast<char>(value.size()) + std::string(value);
}
std::string name(std::string_view module, std::string_view global) {
  return text(module) + text(global) + "\x93";
}
std::string number(int value) {
  return std::string("K") + static_cast<char>(value);
}
std::string bytes(std::string_view value) {
  std::string piece = "B";
  for (int i = 0; i < 4; ++i) piece.push_back(static_cast<char>((value.size() >> (8 * i)) & 0xff));
  return piece + std::string(value);
}
std::string call(const std::string& callable, const std::string& arguments) {
  return callable + "(" + arguments + "tR";
}
std::string make(const std::string& callable, const std::string& arguments) {
  return callable + "(" + arguments + "t\x81";
}
std::string whole(const std::string& body) {
  return "\x80\x04" + body + ".";
}

PolicyReport judged(std::string_view pickle, const PolicyLimits& limits = {}) {
  Budget budget = Budget::for_input(pickle.size());
  const auto document = parse(pickle, budget);
  REQUIRE(document);
  return judge(*document, budget, limits);
}

Verdict verdict(const std::string& body) {
  return judged(whole(body)).verdict;
}

const std::string kEntry = name("torch._inductor.output_code", "CompiledFxGraph");
const std::string kSystem = name("os", "system");
const std::string kHostile = whole(call(kSystem, text("id")));

/// The five pickles that start a legacy torch.save stream.
std::string stream(const std::string& third, const std::string& storage) {
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);
  return magic + std::string("\x80\x02M\xe9\x03.") + third + storage + "\x80\x02]." + std::string(16, '\0');
}
const std::string kPlainStorage = "\x80\x02(X\x07" + std::string("\0\0\0storage", 10) +
                                  "ctorch\nFloatStorage\nX\x01" + std::string("\0\0\0", 3) + "1X\x03" +
                                  std::string("\0\0\0cpu", 6) + "K\x02NtQ.";

}  // namespace

TEST_SUITE("pickle/policy") {
  TEST_CASE("what torch stores is data, and covered") {
    const std::string entry =
        make(kEntry, "") + "}(" + text("constants") + "}" + text("dtype") + name("torch", "float8_e4m3fn") +
        text("set") + call(name("torch.utils._ordered_set", "OrderedSet"), "](" + text("cpu") + "e") + "ub";
    const PolicyReport report = judged(whole(entry));
    CHECK(report.verdict == Verdict::kData);
    CHECK(report.findings.empty());
    CHECK(report.globals == 3);
    CHECK(report.calls == 2);
    CHECK(report.complete);
    CHECK(verdict(make(name("torch._dynamo.source", "LocalSource"), "") + "}b") == Verdict::kData);
    CHECK(verdict(call(name("torch._dynamo.source", "LocalSource"), text("x") + "\x88")) == Verdict::kData);
    CHECK(verdict(call(name("inspect", "_ParameterKind"), number(1))) == Verdict::kData);
    CHECK(verdict(make(name("sympy.core.numbers", "Integer"), number(7))) == Verdict::kData);
    CHECK(verdict(call(name("collections", "defaultdict"), name("builtins", "list"))) == Verdict::kData);
    CHECK(verdict(call(name("torch", "device"), text("cuda") + number(0))) == Verdict::kData);
    CHECK(verdict(make(name("torch._C._functionalization", "view_ViewMeta"), "") + "(\x88]tb") ==
          Verdict::kData);
  }

  TEST_CASE("a call of a dangerous function is named with its place") {
    const PolicyReport report = judged(kHostile);
    CHECK(report.verdict == Verdict::kDangerous);
    REQUIRE(report.findings.size() >= 1);
    CHECK(report.findings[0].subject == "os.system");
    CHECK(report.findings[0].offset == 14);  // STACK_GLOBAL
    CHECK(report.findings[0].depth == 0);
    CHECK(judged("cposix\nsystem\n(S'id'\ntR.").verdict == Verdict::kDangerous);
    CHECK(judged("(S'id'\nios\nsystem\n.").verdict == Verdict::kDangerous);
    CHECK(judged("(cos\nsystem\nS'id'\no.").verdict == Verdict::kDangerous);
    CHECK(verdict(make(name("subprocess", "Popen"), text("id"))) == Verdict::kDangerous);
    CHECK(verdict(call(name("builtins", "eval"), text("1"))) == Verdict::kDangerous);
    CHECK(verdict(call(name("builtins", "__import__"), text("os"))) == Verdict::kDangerous);
  }

  TEST_CASE("dropped and hidden calls count") {
    CHECK(verdict(call(kSystem, text("id")) + "0N") == Verdict::kDangerous);
    CHECK(verdict("(" + call(kSystem, text("id")) + "1N") == Verdict::kDangerous);
    CHECK(verdict(kSystem + "0N") == Verdict::kDangerous);  // imported, not even called
    CHECK(verdict(kSystem + "q\x05" + "0N(" + "h\x05" + text("id") + "\x85R" + "tN") == Verdict::kDangerous);
    CHECK(verdict("}" + call(kSystem, text("id")) + text("x") + "s") == Verdict::kDangerous);  // as a key
  }

  TEST_CASE("whatever isn't listed is unknown, without being known as bad") {
    const PolicyReport report = judged(whole(make(name("user_module", "Config"), "")));
    CHECK(report.verdict == Verdict::kUnknown);
    CHECK(report.total_findings == 1);
    CHECK(verdict(name("torch._inductor.output_code", "CompiledFxGraph2")) == Verdict::kUnknown);
    CHECK(verdict(name("torch._inductor.output_code", "CompiledFxGraph.__init__")) == Verdict::kUnknown);
    CHECK(verdict(name("torch._inductor.output_code", "CompiledFxGraph CompiledAOTI")) == Verdict::kUnknown);
    CHECK(verdict(name("torch._utils", "torch.load")) != Verdict::kData);
    CHECK(verdict(name("torch", "serialization.load")) != Verdict::kData);
  }

  TEST_CASE("a listed name in another role, or with other arguments, is a finding") {
    CHECK(verdict(call(kEntry, "")) == Verdict::kUnknown);                    // torch instantiates it
    CHECK(verdict(make(kEntry, text("x"))) == Verdict::kUnknown);             // without arguments
    CHECK(verdict(make(name("torch", "float32"), "")) == Verdict::kUnknown);  // a dtype
    CHECK(verdict(call(name("inspect", "_ParameterKind"), text("x"))) != Verdict::kData);
    CHECK(verdict(name("builtins", "getattr")) != Verdict::kData);  // stored instead of called
    CHECK(verdict(name("pickle", "loads")) == Verdict::kDangerous);
    CHECK(verdict(call(name("builtins", "bytearray"), number(9))) ==
          Verdict::kUnknown);  // allocates what it is told
    CHECK(verdict(call(name("collections", "defaultdict"), name("torch", "float32"))) == Verdict::kUnknown);
    CHECK(verdict(call(name("collections", "Counter"), "") + "}b") == Verdict::kUnknown);
    CHECK(verdict(make(kEntry, "") + number(1) + number(2) + "s") == Verdict::kUnknown);
    CHECK(verdict(make(kEntry, "") + number(1) + "a") == Verdict::kUnknown);
    CHECK(verdict(call(name("dill._dill", "_load_type"), text("CodeType"))) == Verdict::kDangerous);
  }

  TEST_CASE("text becomes bytes by the one codec that pickle itself uses") {
    const std::string encode = name("_codecs", "encode");
    CHECK(verdict(call(encode, text("abc") + text("latin1"))) == Verdict::kData);
    CHECK(verdict(call(encode, text("abc") + text("rot13"))) == Verdict::kUnknown);
    CHECK(verdict(call(encode, text("abc"))) == Verdict::kUnknown);
    CHECK(verdict(call(encode, bytes("abc") + text("latin1"))) == Verdict::kUnknown);
  }

  TEST_CASE("sympify evaluates text, so sympy gets none") {
    CHECK(verdict(make(name("sympy.core.add", "Add"), number(1) + name("sympy.core.symbol", "Symbol") +
                                                          text("s0") + "\x85}\x92")) == Verdict::kData);
    CHECK(verdict(make(name("sympy.core.add", "Add"), text("__import__('os')"))) == Verdict::kUnknown);
    CHECK(verdict(make(name("sympy.core.add", "Add"), "](" + text("x") + "e")) == Verdict::kUnknown);
    CHECK(verdict(call(name("torch.utils._sympy.functions", "FloorDiv"), number(1) + text("x"))) ==
          Verdict::kUnknown);
  }

  TEST_CASE("getattr only for the pairs that torch stores") {
    const std::string getattr = name("builtins", "getattr");
    const std::string cache = make(name("torch._inductor.runtime.autotune_cache", "AutotuneCache"), "");
    CHECK(verdict(call(getattr, cache + text("save"))) == Verdict::kData);
    CHECK(verdict(call(getattr, cache + text("__class__"))) == Verdict::kDangerous);
    CHECK(verdict(call(getattr, name("torch", "Tensor") + text("save"))) == Verdict::kDangerous);
    CHECK(verdict(call(call(getattr, cache + text("save")), text("x"))) ==
          Verdict::kUnknown);  // stored, not called
    const std::string rebuild =
        call(getattr, name("torch._dynamo.guards", "GuardsStatePickler") + text("_unpickle_tensor"));
    const std::string meta = call(name("torch._utils", "_rebuild_meta_tensor_no_storage"),
                                  name("torch", "float32") + "K\x02\x85K\x01\x85\x89");
    const std::string device = call(name("torch", "device"), text("cpu"));
    CHECK(verdict(call(rebuild, meta + device + name("torch.nn.parameter", "Parameter") + "K\x01N")) ==
          Verdict::kData);
    CHECK(verdict(call(rebuild, number(1))) == Verdict::kUnknown);
    CHECK(verdict(call(call(name("functools", "partial"), name("builtins", "list")), text("x"))) ==
          Verdict::kUnknown);
  }

  TEST_CASE("functions that compile text may be stored, not called") {
    const std::string reduce = name("torch.fx.graph_module", "reduce_graph_module");
    const std::string module =
        make(name("torch._functorch._aot_autograd.aot_autograd_result", "SerializedGraphModule"), "");
    CHECK(verdict(module + "}(" + text("fn") + reduce + text("args") + ")ub") == Verdict::kData);
    CHECK(verdict(module + "}(" + text("args") + reduce + "ub") == Verdict::kDangerous);
    CHECK(verdict("(" + reduce + "}t") == Verdict::kDangerous);
    CHECK(verdict(call(reduce, "}" + text("import os"))) == Verdict::kDangerous);
  }

  TEST_CASE("changing something that the pickle didn't make") {
    const PolicyReport report = judged(whole(name("torch", "Tensor") + "}b"));
    CHECK(report.verdict == Verdict::kDangerous);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].subject == "torch.Tensor");
  }

  TEST_CASE("pickles inside bytes are looked into") {
    const std::string outer = whole("](" + bytes(kHostile) + "e");
    const PolicyReport report = judged(outer);
    CHECK(report.verdict == Verdict::kDangerous);
    REQUIRE(report.findings.size() >= 1);
    CHECK(report.findings[0].depth == 1);
    CHECK(report.findings[0].base == outer.find(kHostile));
    CHECK(report.nested_pickles == 1);
    CHECK(report.nested_bytes == kHostile.size());
    CHECK(verdict(call(name("pickle", "loads"), bytes(whole("N")))) == Verdict::kData);
    CHECK(verdict(call(name("pickle", "loads"), bytes(kHostile))) == Verdict::kDangerous);
    CHECK(verdict(call(name("pickle", "loads"), bytes("garbage"))) == Verdict::kUnknown);
    CHECK(verdict(bytes(whole(bytes(whole(bytes(kHostile)))))) == Verdict::kDangerous);
    const PolicyReport other = judged(whole(bytes("\x80\x04 not a pickle")));
    CHECK(other.verdict == Verdict::kData);
    CHECK(other.opaque_bytes == 15);
  }

  TEST_CASE("torch.save streams are judged pickle by pickle") {
    const std::string load = name("torch.storage", "_load_from_bytes");
    const std::string info = "\x80\x02}.";
    const PolicyReport good = judged(whole(call(load, bytes(stream(info, kPlainStorage)))));
    CHECK(good.verdict == Verdict::kData);
    CHECK(good.nested_pickles == 5);
    const std::string hostile =
        "\x80\x02"
        "cos\nsystem\nX\x02" +
        std::string("\0\0\0id", 5) + "\x85R.";
    CHECK(verdict(call(load, bytes(stream(info, hostile)))) == Verdict::kDangerous);
    CHECK(verdict(call(load, bytes(stream(hostile, kPlainStorage)))) == Verdict::kDangerous);
    CHECK(verdict(bytes(stream(hostile, kPlainStorage))) ==
          Verdict::kDangerous);  // though nothing loads it here
    CHECK(verdict(call(load, bytes("PK\x03\x04zip"))) == Verdict::kUnknown);
    CHECK(verdict(call(load, bytes(stream(info, kPlainStorage).substr(0, 40)))) == Verdict::kUnknown);
    CHECK(verdict(call(load, text("path"))) != Verdict::kData);
  }

  TEST_CASE("stored graphs name operators, nothing else") {
    const auto node = [](std::string_view root, std::string_view function) {
      return make(name("torch.fx._graph_pickler", "_OpFunctionPickleData"), "") + "}(" + text("root") +
             text(root) + text("name") + text(function) + "ub";
    };
    CHECK(verdict(node("torch", "nn.functional.embedding")) == Verdict::kData);
    CHECK(verdict(node("builtins", "max")) == Verdict::kData);
    CHECK(verdict(node("builtins", "eval")) == Verdict::kDangerous);
    CHECK(verdict(node("torch", "load")) == Verdict::kDangerous);
    CHECK(verdict(node("torch", "hub.load")) == Verdict::kDangerous);
    CHECK(verdict(node("operator", "methodcaller")) == Verdict::kDangerous);
    CHECK(verdict(node("math", "__loader__.load_module")) == Verdict::kDangerous);
    CHECK(verdict(node("os", "system")) == Verdict::kDangerous);
  }

  TEST_CASE("limits make the verdict unknown, never data") {
    std::string deep = whole("N");
    for (int i = 0; i < 20; ++i) deep = whole(bytes(deep));
    const PolicyReport report = judged(deep);
    CHECK(report.verdict == Verdict::kUnknown);
    CHECK_FALSE(report.complete);
    PolicyLimits limits;
    limits.max_findings = 1;
    const PolicyReport capped =
        judged(whole("](" + kSystem + name("os", "popen") + name("os", "execv") + "e"), limits);
    CHECK(capped.findings.size() == 1);
    CHECK(capped.total_findings == 3);
    const std::string pickle = whole("](" + name("torch", "float32") + "e");
    Budget enough = Budget::for_input(pickle.size());
    const auto document = parse(pickle, enough);
    REQUIRE(document);
    Budget none(1);
    const PolicyReport starved = judge(*document, none);
    CHECK_FALSE(starved.complete);
    CHECK(starved.verdict == Verdict::kUnknown);
    CHECK(none.used() == 0);
  }

  TEST_CASE("shared and cyclic values end") {
    CHECK(verdict("]\x94h" + std::string("\0", 1) + "a") == Verdict::kData);
    std::string shared = "]\x94";
    for (int i = 0; i < 60; ++i)
      shared +=
          "]\x94(h" + std::string(1, static_cast<char>(i)) + "h" + std::string(1, static_cast<char>(i)) + "e";
    CHECK(verdict(shared) == Verdict::kUnknown);  // see policy_size_test.cpp
  }

  TEST_CASE("names by themselves") {
    CHECK(classify_global("torch", "float32") == Verdict::kData);
    CHECK(classify_global("os", "system") == Verdict::kDangerous);
    CHECK(classify_global("os.path", "join") == Verdict::kDangerous);
    CHECK(classify_global("osmosis", "x") == Verdict::kUnknown);
    CHECK(classify_global("", "") == Verdict::kUnknown);
    CHECK(verdict_name(Verdict::kDangerous) == "dangerous");
    CHECK(find_rule("torch", "") == nullptr);
    CHECK(find_rule("torch", "float") != nullptr);
    CHECK(find_rule("torch", "loat") == nullptr);
  }
}
