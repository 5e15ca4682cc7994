#include "torch/decode.h"

#include <doctest/doctest.h>

#include <memory>

#include "base/json_writer.h"
#include "pickle_text.h"
#include "torch/json_value.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

constexpr const char* kFiles[] = {
    "fxgraph-2.4.1-cpu.pkl",         "fxgraph-2.6.0-constants.pkl",     "fxgraph-2.6.0-cuda.pkl",
    "aotautograd-2.5.1.pkl",         "aotautograd-2.6.0-train.pkl",     "aotautograd-2.9.1-bundled.pkl",
    "aotautograd-2.9.1-dynamic.pkl", "aotautograd-2.15.0-mutation.pkl", "fxgraph-2.15.0-cuda-parameter.pkl",
};

/// Everything that a command does with an entry.
void use(std::string_view bytes) {
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = decode_entry(bytes, budget);
  if (!decoded) return;
  Interner interner;
  const EntrySummary row = summarize(*decoded, {}, {}, interner);
  CHECK(row.family <= row.family_last);
  StringSink sink;
  JsonWriter json(sink);
  JsonValueOptions options;
  options.max_nodes = 100000;
  write_fields(json, decoded->document.root(), options);
  json.flush();
}

}  // namespace

TEST_SUITE_BEGIN("torch/decode");

TEST_CASE("an AOTAutograd entry packed with what it needs is still one") {
  const auto entry = [](const char* name) {
    return instance("torch._functorch._aot_autograd.aot_autograd_result", name,
                    dict(text("forward_time_taken_ns"), integer(7)));
  };
  const auto decode = [](const std::string& bytes) {
    Budget budget = Budget::for_input(bytes.size());
    auto decoded = decode_entry_owned(bytes, budget);
    REQUIRE(decoded);
    return std::move(*decoded);
  };
  const Decoded packed = decode(tuple(entry("BundledAOTAutogradResult"), dict(), list()) + ".");
  REQUIRE(packed.aot_entry() != nullptr);
  CHECK(packed.aot_entry()->forward_time_taken_ns.value_or(0) == 7);
  CHECK(packed.class_name() == "torch._functorch._aot_autograd.aot_autograd_result.BundledAOTAutogradResult");
  CHECK(packed.object().is(pickle::Tag::kObject));

  const Decoded other = decode(tuple(entry("SomethingElse"), dict(), list()) + ".");
  CHECK(other.aot_entry() == nullptr);
  CHECK(other.class_name().empty());
  CHECK(decode(tuple() + ".").class_name().empty());
}

TEST_CASE("a summary outlives the entry") {
  Interner interner;
  EntrySummary row;
  {
    auto bytes = std::make_unique<std::string>(entry_file("fxgraph-2.6.0-cuda.pkl"));
    Budget budget = Budget::for_input(bytes->size());
    const auto decoded = decode_entry(*bytes, budget);
    REQUIRE(decoded);
    row = summarize(*decoded, {}, {}, interner);
  }
  CHECK(row.output_code == OutputCodeClass::kCompiledFxGraph);
  CHECK(interner.text(row.class_name) == "torch._inductor.output_code.CompiledFxGraph");
  CHECK(interner.text(row.device_types) == "cpu,cuda");
  CHECK(interner.text(row.device_indices) == "0");
  CHECK(interner.text(row.operators) == "mul, exp");
  CHECK(interner.text(row.graph_name) == "4_forward");
  CHECK(row.triton_kernels == 2);
  CHECK(row.time_taken_ns == 516671533);
  CHECK(row.cudagraphs == CudagraphFacts::kReasonStored);
  CHECK(row.family == ReleaseFamily::k2_6);
  CHECK(row.cache_key.str() == "clafvyue6sbiyf5qsr5uh7ixbhp2hbph7j6rnymm34m6spjrk6ta");
}

TEST_CASE("summaries of AOTAutograd entries") {
  Interner interner;
  const auto summary = [&](const char* file) {
    const std::string bytes = entry_file(file);
    Budget budget = Budget::for_input(bytes.size());
    const auto decoded = decode_entry(bytes, budget);
    REQUIRE(decoded);
    return summarize(*decoded, {}, {}, interner);
  };
  const EntrySummary train = summary("aotautograd-2.6.0-train.pkl");
  CHECK(train.kind == EntryKind::kAotAutograd);
  CHECK(train.has_backward);
  CHECK(train.forward_time_ns == 2355515959);
  CHECK(train.backward_time_ns == 2771185192);
  CHECK(train.forward_graph.prefix == 'f');
  CHECK(train.backward_graph.prefix == 'f');
  CHECK(train.cudagraphs == CudagraphFacts::kNotApplicable);
  const EntrySummary bundled = summary("aotautograd-2.9.1-bundled.pkl");
  CHECK(bundled.bundled);
  CHECK(bundled.output_code == OutputCodeClass::kCompiledFxGraph);
  CHECK(interner.text(bundled.graph_name) == "0_forward");
  const EntrySummary guarded = summary("aotautograd-2.9.1-dynamic.pkl");
  CHECK(guarded.has_guards);
  CHECK(interner.text(guarded.device_types) == "cpu");
  CHECK(interner.text(guarded.exact_release) == "2.9.1+cu128");
}

TEST_CASE("a row keeps little of a long text") {
  const std::string bytes = pickle_text::pickle(
      instance("torch._inductor.output_code", "CompiledFxGraph",
               dict(text("source_code"), text("# AOT ID: ['" + std::string(100000, 'x') + "']\n"),
                    text("device_types"), list(text(std::string(100000, 'y'))))));
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = decode_entry(bytes, budget);
  REQUIRE(decoded);
  Interner interner;
  const EntrySummary row = summarize(*decoded, {}, {}, interner);
  CHECK(interner.text(row.graph_name).size() == 203);
  CHECK(interner.text(row.device_types).size() == 203);
}

TEST_CASE("other pickles are named by their class") {
  const auto decode = [](const std::string& value) {
    const std::string bytes = pickle_text::pickle(value);
    Budget budget = Budget::for_input(bytes.size());
    auto decoded = decode_entry_owned(bytes, budget);
    REQUIRE(decoded);
    return decoded->class_name();
  };
  CHECK(decode(instance("torch._dynamo.package", "PrecompileCacheEntry", dict())) ==
        "torch._dynamo.package.PrecompileCacheEntry");
  CHECK(decode(integer(5)).empty());
  Budget budget(1 << 20);
  CHECK_FALSE(decode_entry("not a pickle", budget));
}

TEST_CASE("a long list that is named many times stops decoding") {
  // One list of 20,000 lists of strides, in the memo, as the placeholders' traces of 20,000 placeholders.
  std::string shared = "](";
  for (int i = 0; i < 20000; ++i) shared += none();
  shared +=
      "e\x94"
      "0";
  std::string infos;
  for (int i = 0; i < 20000; ++i) {
    infos += global("m", "GraphPartitionMap") + ")\x81(" + text("input_index_mapping") + "h" +
             std::string(1, '\0') + "db";
  }
  const std::string bytes =
      "\x80\x04" + shared +
      instance("torch._inductor.output_code", "CompiledFxGraph", dict(text("partition_maps"), list(infos))) +
      ".";
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = decode_entry(bytes, budget);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().code == ErrorCode::kLimitWork);
}

TEST_CASE("cut and flipped entries are used or refused") {
  for (const char* file : kFiles) {
    CAPTURE(file);
    const std::string bytes = entry_file(file);
    REQUIRE(bytes.size() > 1000);
    for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 40)
      use(std::string_view(bytes).substr(0, cut));
    std::string damaged = bytes;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t at = (i * 7919 * 131) % bytes.size();
      const char old = damaged[at];
      damaged[at] = static_cast<char>(old ^ (1 << (i % 8)));
      use(damaged);
      damaged[at] = old;
    }
  }
}

TEST_SUITE_END();
