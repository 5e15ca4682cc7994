#include "replay/replay.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::none;
using pickle_text::text;

namespace {

ReplayOptions options(ReleaseFamily family, std::initializer_list<std::string_view> settings = {}) {
  ReplayOptions result;
  result.release = family;
  result.settings = given(settings);
  return result;
}

std::vector<GraphReplay> replay_key(CacheBuilder& cache, const std::string& key,
                                    const ReplayOptions& request) {
  auto graphs = replay_entry(cache.source(), cache.entry(key), request);
  REQUIRE(graphs);
  return std::move(*graphs);
}

GraphReplay replay_alone(const GraphBuilder& builder, std::initializer_list<std::string_view> settings = {}) {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, builder.pickle());
  auto graphs = replay_key(cache, kForwardKey, options(builder.family(), settings));
  REQUIRE(graphs.size() == 1);
  return std::move(graphs.front());
}

std::vector<GraphReplay> replay_pair(const GraphBuilder& forward, const GraphBuilder& backward,
                                     std::initializer_list<std::string_view> settings = {}) {
  const ReleaseFamily family = forward.family();
  CacheBuilder cache;
  cache.add_graph(kForwardKey, forward.pickle());
  cache.add_graph(kBackwardKey, backward.pickle());
  cache.add_aot(kAotKey, aot_entry(graph_reference("CompiledForward", family, kForwardKey),
                                   graph_reference("CompiledBackward", family, kBackwardKey)));
  auto graphs = replay_key(cache, kAotKey, options(family, settings));
  REQUIRE(graphs.size() == 2);
  return graphs;
}

}  // namespace

TEST_SUITE_BEGIN("replay/replay");

TEST_CASE("a graph by itself") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.set("_time_taken_ns", pickle_text::integer(77));
    const GraphReplay graph = replay_alone(builder, {"graph_partition=off"});
    CHECK(graph.entry.key == kForwardKey);
    CHECK(graph.entry.leaf == store_tests::leaf_name('l'));
    CHECK_FALSE(graph.aot);
    CHECK(graph.role == Role::kForward);
    CHECK(graph.class_name == "CompiledFxGraph");
    CHECK(graph.rules == family);
    CHECK(graph.compile_time_ns == 77);
    CHECK(graph.before.cudagraphs);
    CHECK_FALSE(graph.before.forward_device_index.value);
    CHECK(graph.decision.callable == Callable::kCudagraph);
    CHECK(graph.assumptions.empty());
  }
}

TEST_CASE("what lies in the other cache's place is no graph of it") {
  const auto family = ReleaseFamily::k2_15;
  CacheBuilder cache;
  cache.add_aot(kAotKey, GraphBuilder(family).pickle());
  cache.add_graph(kForwardKey,
                  aot_entry(graph_reference("CompiledForward", family, kForwardKey), pickle_text::none()));
  for (const auto& key : {kAotKey, kForwardKey}) {
    const auto graphs = replay_key(cache, key, options(family));
    REQUIRE(graphs.size() == 1);
    CHECK(graphs[0].decision.callable == Callable::kUnknown);
    CHECK_FALSE(graphs[0].counted);
    REQUIRE(graphs[0].decision.reasons.size() == 1);
    CHECK(graphs[0].decision.reasons[0].ends_with(": torch can't use it"));
  }
}

TEST_CASE("an entry of a class that no release stores is undecided") {
  using namespace pickle_text;
  CacheBuilder cache;
  cache.add_graph(kForwardKey,
                  pickle_text::pickle(instance("torch._inductor.output_code", "CompiledFxGrapX", dict())));
  const auto graphs = replay_key(cache, kForwardKey, options(ReleaseFamily::k2_15));
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].decision.callable == Callable::kUnknown);
  CHECK(graphs[0].class_name == "CompiledFxGrapX");
}

TEST_CASE("an AOTAutograd entry that doesn't tell which graphs it has is undecided") {
  const auto family = ReleaseFamily::k2_15;
  const std::string reference = graph_reference("CompiledForward", family, kForwardKey);
  struct Case {
    std::string forward, backward;
    std::size_t graphs;
  };
  for (const Case& item :
       {Case{pickle_text::integer(1), pickle_text::none(), 1},
        Case{pickle_text::none(), pickle_text::none(), 1}, Case{reference, pickle_text::integer(1), 2}}) {
    CacheBuilder cache;
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle());
    cache.add_aot(kAotKey, aot_entry(item.forward, item.backward));
    const auto graphs = replay_key(cache, kAotKey, options(family));
    REQUIRE(graphs.size() == item.graphs);
    for (const GraphReplay& graph : graphs) {
      CHECK(graph.decision.callable == Callable::kUnknown);
      CHECK_FALSE(graph.decision.reasons.empty());
    }
  }
}

TEST_CASE("classes without CUDA graph code pass the boxes on") {
  using namespace pickle_text;
  CacheBuilder cache;
  cache.add_graph(kForwardKey, pickle_text::pickle(instance("torch._inductor.output_code", "CompiledAOTI",
                                                            dict(text("filename"), text("a.so")))));
  const auto graphs = replay_key(cache, kForwardKey,
                                 options(ReleaseFamily::k2_15, {"cudagraphs=on", "forward_device_index=1"}));
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].class_name == "CompiledAOTI");
  CHECK(graphs[0].decision.callable == Callable::kPlain);
  CHECK(graphs[0].decision.outcome == Outcome::kNoCudagraphCode);
  CHECK(graphs[0].decision.after.cudagraphs);
  CHECK(graphs[0].decision.after.forward_device_index.value == 1);
}

TEST_CASE("the release is the entry's own unless another is asked for") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, GraphBuilder(k2_13).device("xpu").reason("r").pickle());
  const GraphReplay own = replay_key(cache, kForwardKey, options(kUnknown)).front();
  CHECK(own.rules == k2_13);
  CHECK(own.release.first == k2_13);
  CHECK(own.decision.log.empty());
  const GraphReplay other = replay_key(cache, kForwardKey, options(k2_14)).front();
  CHECK(other.rules == k2_14);
  CHECK(other.release.first == k2_13);
  CHECK(other.decision.log.size() == 1);
}

TEST_CASE("roles") {
  CHECK(replay_alone(GraphBuilder(k2_15).inference()).role == Role::kInference);
  CHECK(replay_alone(GraphBuilder(k2_15).backward()).role == Role::kBackward);
  CHECK(replay_alone(GraphBuilder(k2_15).kwarg("is_inference", none())).role == Role::kUnknown);
  CHECK(role_name(Role::kForward) == "forward");
  CHECK(role_name(Role::kBackward) == "backward");
  CHECK(role_name(Role::kInference) == "inference");
  CHECK(role_name(Role::kUnknown) == "unknown");
}

TEST_CASE("releases before 2.6 aren't decided") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, pickle_text::entry_file("fxgraph-2.4.1-cpu.pkl"));
  const GraphReplay graph = replay_key(cache, kForwardKey, options(kUnknown)).front();
  CHECK(graph.decision.callable == Callable::kUnknown);
  CHECK(graph.decision.reasons == Lines{"decision not known for this release"});
}

TEST_CASE("real entries by themselves") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, pickle_text::entry_file("fxgraph-2.15.0-cuda-parameter.pkl"));
  cache.add_graph(kBackwardKey, pickle_text::entry_file("fxgraph-2.6.0-cuda.pkl"));
  const GraphReplay latest = replay_key(cache, kForwardKey, options(kUnknown)).front();
  CHECK(latest.rules == k2_15);
  CHECK(latest.decision.callable == Callable::kCudagraphPartitions);
  CHECK(latest.settings.cudagraphs.origin == SettingOrigin::kKey);
  REQUIRE(latest.decision.wraps.size() == 1);
  CHECK(latest.decision.wraps[0].n_constants == 1);
  const GraphReplay oldest = replay_key(cache, kBackwardKey, options(kUnknown)).front();
  CHECK(oldest.rules == k2_6);
  CHECK(oldest.decision.callable != Callable::kUnknown);
  CHECK(oldest.settings.cudagraphs.origin == SettingOrigin::kEntry);
}

TEST_CASE("entries that hold no compiled graph") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey,
                  pickle_text::pickle(pickle_text::instance("their.module", "Graph", pickle_text::dict())));
  cache.add_graph(kBackwardKey, "junk");
  const auto other = replay_entry(cache.source(), cache.entry(kForwardKey), options(k2_15));
  REQUIRE(other);
  REQUIRE(other->size() == 1);
  CHECK(other->front().decision.callable == Callable::kUnknown);
  CHECK(other->front().decision.reasons[0] == "their.module.Graph is no class whose post-compile is known");
  CHECK_FALSE(replay_entry(cache.source(), cache.entry(kBackwardKey), options(k2_15)));
}

TEST_CASE("a backward by itself: its forward ran on the first of its devices") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder builder(family);
    builder.backward().fails({"x"});
    const GraphReplay graph = replay_alone(builder, {"graph_partition=off"});
    if (family <= k2_7) {
      // Those releases keep the box in the entry.
      CHECK(graph.decision.callable == Callable::kError);
      CHECK(graph.assumptions.empty());
      continue;
    }
    CHECK(graph.before.forward_device_index.value == 3);
    CHECK(graph.decision.sets_running_backward);
    REQUIRE(graph.assumptions.size() == 1);
    CHECK(graph.assumptions[0].starts_with("its forward ran on device 3"));
    const GraphReplay told = replay_alone(builder, {"forward_device_index=1", "cudagraph_manager=on"});
    CHECK(told.before.forward_device_index.value == 1);
    CHECK(told.assumptions.empty());
    // The forward has run, so that the manager is there; unless the user says otherwise.
    CHECK(replay_alone(builder, {"graph_partition=off", "forward_device_index=1"})
              .decision.sets_running_backward);
    CHECK(replay_alone(builder, {"graph_partition=off", "cudagraph_manager=off"}).decision.error);
    CHECK(replay_alone(builder, {"cudagraphs=off"}).assumptions.empty());
  }
}

TEST_CASE("a pair: one flag and one box through both, forward first") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    GraphBuilder backward(family);
    backward.backward().set("device_idxs", pickle_text::set(pickle_text::integer(9)));
    const auto graphs = replay_pair(GraphBuilder(family), backward);
    CHECK(graphs[0].role == Role::kForward);
    CHECK(graphs[0].entry.key == kForwardKey);
    REQUIRE(graphs[0].aot);
    CHECK(graphs[0].aot->key == kAotKey);
    CHECK_FALSE(graphs[0].before.forward_device_index.value);
    CHECK(graphs[0].decision.after.forward_device_index.value == 3);
    CHECK(graphs[1].role == Role::kBackward);
    CHECK(graphs[1].entry.key == kBackwardKey);
    CHECK(graphs[1].aot->key == kAotKey);
    CHECK(graphs[1].before.cudagraphs);
    // To 2.7 a box lies in each entry.
    CHECK(graphs[1].before.forward_device_index.value.has_value() == (family >= k2_8));
    CHECK(graphs[1].decision.wraps.at(0).device_index == 9);
    CHECK(graphs[1].assumptions.empty());
  }
}

TEST_CASE("a pair: a forward that is skipped takes its backward with it, silently") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const auto graphs =
        replay_pair(GraphBuilder(family).reason("r"), GraphBuilder(family).backward().reason("s"));
    CHECK(graphs[0].decision.log == Lines{"skipping cudagraphs due to r"});
    CHECK_FALSE(graphs[1].before.cudagraphs);
    CHECK(graphs[1].decision.outcome == Outcome::kNotAsked);
    CHECK(graphs[1].decision.log.empty());
    CHECK(graphs[1].decision.cudagraph_skips == 0);
    CHECK(graphs[1].decision.realign == Positions{0, 2});
  }
}

TEST_CASE("a pair: a backward that is skipped leaves its forward as it is") {
  for (const auto family : kFamilies) {
    const auto graphs = replay_pair(GraphBuilder(family), GraphBuilder(family).backward().reason("s"));
    CHECK(graphs[0].decision.outcome == Outcome::kWrapped);
    CHECK(graphs[1].decision.log == Lines{"skipping cudagraphs due to s"});
  }
}

TEST_CASE("a graph of a pair that isn't there") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, GraphBuilder(k2_15).pickle());
  cache.add_aot(kAotKey, aot_entry(graph_reference("CompiledForward", k2_15, kForwardKey),
                                   graph_reference("CompiledBackward", k2_15, kBackwardKey)));
  const auto graphs = replay_key(cache, kAotKey, options(k2_15));
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[1].role == Role::kBackward);
  CHECK(graphs[1].entry.key == kBackwardKey);
  CHECK(graphs[1].entry.path.empty());
  CHECK(graphs[1].decision.callable == Callable::kUnknown);
  REQUIRE(graphs[1].decision.reasons.size() == 1);
  CHECK(graphs[1].decision.reasons[0].starts_with("no FX entry of key"));
}

TEST_CASE("an inference entry names one graph") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, GraphBuilder(k2_9).inference().pickle());
  cache.add_aot(kAotKey, aot_entry(graph_reference("CompiledForward", k2_9, kForwardKey), none()));
  const auto graphs = replay_key(cache, kAotKey, options(k2_9));
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].role == Role::kInference);
  CHECK_FALSE(graphs[0].decision.after.forward_device_index.value);
}

TEST_CASE("a real entry that bundles its graphs") {
  CacheBuilder cache;
  cache.add_aot(kAotKey, pickle_text::entry_file("aotautograd-2.9.1-bundled.pkl"));
  const auto graphs = replay_key(cache, kAotKey, options(kUnknown));
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[0].rules == k2_9);
  CHECK(graphs[0].entry.key == kAotKey);
  CHECK(graphs[0].class_name == "CompiledFxGraph");
  CHECK(graphs[0].decision.outcome == Outcome::kNotAsked);
  CHECK(graphs[1].role == Role::kBackward);
}

TEST_SUITE_END();
