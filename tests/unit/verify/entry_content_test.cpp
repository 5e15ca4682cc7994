#include "verify/entry_content.h"

#include <doctest/doctest.h>

#include <map>

#include "torch/key.h"
#include "unit/torch/pickle_text.h"
#include "unit/verify/own_lines.h"
#include "verify/entry_bytes.h"

using namespace cachetool;
using namespace pickle_text;
using verify_tests::Lines;

TEST_SUITE_BEGIN("verify/entry_content");

namespace {

using Fields = std::map<std::string, std::string>;

constexpr std::string_view kSource = "# AOT ID: ['0_inference']\ndef call(args): pass\n";

/// What torch 2.4 reads of a graph.
Fields graph_fields() {
  return {{"guards_expr", none()},
          {"cache_key", text(torch::code_hash(torch::python_strip(kSource)).str())},
          {"source_code", text(kSource)},
          {"cache_linemap", list()},
          {"constants", dict()},
          {"metrics_deltas", instance("torch._inductor.metrics", "CachedMetricsDeltas", dict())},
          {"output_strides", list()},
          {"disabled_cudagraphs_reason", none()},
          {"device_types", list(text("cpu"))},
          {"device_idxs", list()},
          {"mutated_input_idxs", list()}};
}

std::string graph(const Fields& fields) {
  std::string members;
  for (const auto& [name, value] : fields) members += text(name) + value;
  return pickle_text::pickle(instance("torch._inductor.codecache", "CompiledFxGraph", "(" + members + "d"));
}

std::string aot(const Fields& fields) {
  std::string members;
  for (const auto& [name, value] : fields) members += text(name) + value;
  return pickle_text::pickle(instance("torch._functorch._aot_autograd.autograd_cache",
                                      "AOTAutogradCacheEntry", "(" + members + "d"));
}

std::vector<verify::Finding> findings(const std::string& bytes, torch::EntryKind kind,
                                      std::uint64_t offset = 0) {
  verify::FileReport report(0, "packed");
  const auto facts = verify::check_entry_bytes(bytes, {.kind = kind, .offset = offset}, {}, report);
  REQUIRE(facts);
  return report.take_findings();
}

Lines ids(const std::string& bytes, torch::EntryKind kind = torch::EntryKind::kFxGraph) {
  verify::Result result;
  result.findings = findings(bytes, kind);
  return verify_tests::ids_of(result);
}

Fields with(Fields fields, const std::string& name, const std::string& value) {
  fields[name] = value;
  return fields;
}

Fields without(Fields fields, const std::string& name) {
  fields.erase(name);
  return fields;
}

}  // namespace

TEST_CASE("a graph with all that torch reads is fine") {
  CHECK(ids(graph(graph_fields())) == Lines{});
}

TEST_CASE("each field that torch reads is missed") {
  for (const auto& [name, value] : graph_fields()) {
    CAPTURE(name);
    const auto found = findings(graph(without(graph_fields(), name)), torch::EntryKind::kFxGraph);
    REQUIRE(found.size() == 1);
    CHECK(found[0].check == &verify::checks::kEntryField);
    CHECK(found[0].severity == verify::Severity::kError);
    CHECK(found[0].message == name + " is missing");
  }
  CHECK(ids(graph(with(graph_fields(), "source_code", none()))) == Lines{"error entry.field"});
  CHECK(ids(graph(with(graph_fields(), "source_code", integer(1)))) == Lines{"error entry.field"});
  // A field that torch only prints.
  CHECK(ids(graph(with(graph_fields(), "runnable_graph_str", integer(1)))) == Lines{"warning entry.field"});
}

TEST_CASE("several cases are one finding") {
  const auto found = findings(graph({{"guards_expr", none()}}), torch::EntryKind::kFxGraph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "cache_key is missing (and 9 more)");
}

TEST_CASE("an AOTAutograd entry that lacks something costs time only") {
  CHECK(ids(aot({}), torch::EntryKind::kAotAutograd) == Lines{"warning entry.field"});
}

TEST_CASE("guards are comparisons of sizes, else a finding that says where") {
  const auto guarded = [](std::string_view expression) {
    return graph(with(graph_fields(), "guards_expr", text(expression)));
  };
  CHECK(ids(guarded("2 <= L['t0'] and L['t0'] <= 4096")) == Lines{});
  CHECK(ids(guarded("")) == Lines{});
  const std::string evil = guarded("2 <= L['t0'] and __import__('os')");
  const auto found = findings(evil, torch::EntryKind::kFxGraph, 1000);
  REQUIRE(found.size() == 1);
  CHECK(found[0].check == &verify::checks::kEntryGuards);
  CHECK(found[0].severity == verify::Severity::kError);
  REQUIRE(found[0].offset);
  CHECK(evil.substr(*found[0].offset - 1000).starts_with("__import__"));
  CHECK(ids(aot({{"guards_expr", text("exec('')")}}), torch::EntryKind::kAotAutograd) ==
        Lines{"error entry.guards", "warning entry.field"});
}

TEST_CASE("strides are numbers or expressions of sizes") {
  const auto strided = [](const std::string& stride) {
    return graph(with(graph_fields(), "output_strides", list(none(), tuple(text(stride), text("1")))));
  };
  CHECK(ids(strided("16")) == Lines{});
  CHECK(ids(strided("4*s27")) == Lines{});
  CHECK(ids(strided("open('x')")) == Lines{"error entry.output-strides"});
}

TEST_CASE("constants that can't be restored") {
  const auto with_constant = [](const std::string& value) {
    return graph(with(graph_fields(), "constants", dict(text("c0"), value)));
  };
  const std::string elements(24, '\1');
  CHECK(ids(with_constant(tensor(storage("FloatStorage", "cpu", 6, elements)))) == Lines{});
  CHECK(ids(with_constant(tensor(storage("FloatStorage", "cpu", 6, elements), 1))) ==
        Lines{"warning entry.constant"});
  CHECK(ids(with_constant(tensor("nothing"))) == Lines{"warning entry.constant"});
}

TEST_CASE("one long text for many strides is parsed once") {
  std::string expression = "s0";
  while (expression.size() < 100000) expression += " + s0";
  std::string strides = text(expression) + "q\x01";  // BINPUT
  for (int i = 0; i < 20000; ++i) strides += "h\x01";
  const std::string bytes = graph(with(graph_fields(), "output_strides", list("(" + strides + "t")));
  CHECK(ids(bytes) == Lines{});
}

TEST_SUITE_END();
