#include "replay/nested_graphs.h"

#include <doctest/doctest.h>

#include "cache_builder.h"
#include "replay/replay.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using namespace pickle_text;
using enum torch::ReleaseFamily;

namespace {

// An AOTAutograd entry that holds its graph, as a region's artifact does (2.13, 2.15).
std::string artifact(const std::string& graph, const std::string& backward = none()) {
  const auto holds = [](std::string_view name, const std::string& result) {
    return instance("torch._functorch._aot_autograd.aot_autograd_result", name, dict(text("result"), result));
  };
  return pickle_text::pickle(instance(
      "torch._functorch._aot_autograd.aot_autograd_result", "BundledAOTAutogradResult",
      dict(text("compiled_fw"), holds("BundledCompiledForward", graph), text("compiled_bw"), backward)));
}

std::string regional(const std::string& graph_module) {
  return instance("torch._inductor.output_code", "RegionalOutputCode",
                  dict(text("_serialized_graph_module"), graph_module));
}

Lines names(const std::string& code, std::uint64_t memory = 1 << 20) {
  const Decoded decoded = decode(pickle_text::pickle(code));
  REQUIRE(decoded.output_code() != nullptr);
  Budget budget(memory);
  return nested_graphs(std::get<torch::RegionalOutputCode>(*decoded.output_code()), budget);
}

const std::string kWithKey = GraphBuilder(k2_15).set("_fx_graph_cache_key", text(kForwardKey)).object();
const std::string kModuleName = "c" + std::string(50, 'b') + "a";

}  // namespace

TEST_SUITE_BEGIN("replay/nested_graphs");

TEST_CASE("graphs of regions, in order, by key or by the name of their module") {
  const std::string module =
      pickle_text::pickle(list(bytes(artifact(GraphBuilder(k2_15).object())) + bytes("no pickle") +
                               dict(text("deeper"), tuple(bytes(artifact(kWithKey))))));
  CHECK(names(regional(bytes(module))) == Lines{kModuleName, kForwardKey});
}

TEST_CASE("what can't be seen is left out") {
  CHECK(names(regional(none())).empty());
  CHECK(names(regional(bytes("junk"))).empty());
  const std::string cut = artifact(kWithKey).substr(0, 60);
  CHECK(names(regional(bytes(pickle_text::pickle(list(bytes(cut) + bytes(artifact(kWithKey))))))) ==
        Lines{kForwardKey});
  const std::string whole = regional(bytes(pickle_text::pickle(list(bytes(artifact(kWithKey))))));
  CHECK(names(whole) == Lines{kForwardKey});
  CHECK(names(whole, 100).empty());
}

TEST_CASE("a regional entry stays plain and lists them") {
  CacheBuilder cache;
  const std::string module = pickle_text::pickle(list(bytes(artifact(kWithKey))));
  cache.add_aot(kAotKey, artifact(regional(bytes(module))));
  ReplayOptions options;
  options.release = k2_15;
  const auto graphs = replay_entry(cache.source(), cache.entry(kAotKey), options);
  REQUIRE(graphs);
  REQUIRE(graphs->size() == 1);
  const GraphReplay& graph = graphs->front();
  CHECK(graph.class_name == "RegionalOutputCode");
  CHECK(graph.role == Role::kInference);
  CHECK(graph.decision.callable == Callable::kPlain);
  CHECK(graph.decision.outcome == Outcome::kNoCudagraphCode);
  CHECK(graph.nested_graphs == Lines{kForwardKey});
}

TEST_SUITE_END();
