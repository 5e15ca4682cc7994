#include "replay/cudagraph_report.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<GraphReplay> pair(const GraphBuilder& forward, const GraphBuilder& backward,
                              std::initializer_list<std::string_view> settings = {}) {
  const ReleaseFamily family = forward.family();
  CacheBuilder cache;
  cache.add_graph(kForwardKey, forward.pickle());
  cache.add_graph(kBackwardKey, backward.pickle());
  cache.add_aot(kAotKey, aot_entry(graph_reference("CompiledForward", family, kForwardKey),
                                   graph_reference("CompiledBackward", family, kBackwardKey)));
  ReplayOptions options;
  options.release = family;
  options.settings = given(settings);
  auto graphs = replay_entry(cache.source(), cache.entry(kAotKey), options);
  REQUIRE(graphs);
  REQUIRE(graphs->size() == 2);
  return std::move(*graphs);
}

GraphReplay alone(const GraphBuilder& builder, std::initializer_list<std::string_view> settings = {}) {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, builder.pickle());
  ReplayOptions options;
  options.release = builder.family();
  options.settings = given(settings);
  auto graphs = replay_entry(cache.source(), cache.entry(kForwardKey), options);
  REQUIRE(graphs);
  return std::move(graphs->front());
}

GraphBuilder timed(GraphBuilder builder, std::int64_t seconds) {
  builder.set("_time_taken_ns", pickle_text::integer(seconds * kSecond));
  return builder;
}

}  // namespace

TEST_SUITE_BEGIN("replay/cudagraph_report");

TEST_CASE("each outcome has a state") {
  CHECK(state_of(alone(GraphBuilder(k2_15))) == CudagraphState::kPartitions);
  CHECK(state_of(alone(GraphBuilder(k2_15), {"graph_partition=off"})) == CudagraphState::kGraph);
  CHECK(state_of(alone(GraphBuilder(k2_15).reason("x"))) == CudagraphState::kSkipped);
  // Counted without a message: there is no GPU device.
  CHECK(state_of(alone(GraphBuilder(k2_15).reason("x").device("cpu"))) == CudagraphState::kSkipped);
  CHECK(state_of(alone(GraphBuilder(k2_15).set("partition_maps", pickle_text::list()),
                       {"graph_partition=on"})) == CudagraphState::kSilent);
  CHECK(state_of(alone(GraphBuilder(k2_15), {"cudagraphs=off"})) == CudagraphState::kNotAsked);
  CHECK(state_of(alone(GraphBuilder(k2_15).without_info(), {"cudagraphs=off"})) ==
        CudagraphState::kNotEvaluated);
  CHECK(state_of(alone(GraphBuilder(k2_15).without_info(), {"cudagraphs=on"})) == CudagraphState::kRaises);
  CHECK(state_of(alone(GraphBuilder(k2_15).set("device_idxs", pickle_text::integer(1)))) ==
        CudagraphState::kUnknown);
}

TEST_CASE("a forward that is skipped switches its backward off, which says why") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const auto graphs = pair(GraphBuilder(family).reason("skipping cudagraphs due to cpu device (primals_2)"),
                             GraphBuilder(family).backward());
    CHECK(state_of(graphs[0]) == CudagraphState::kSkipped);
    CHECK(state_of(graphs[1]) == CudagraphState::kSkipped);
    CHECK(graphs[1].decision.outcome == Outcome::kNotAsked);
    CHECK(graphs[1].decision.cudagraph_skips == 0);
    CHECK(reasons_of(graphs[1]) == graphs[0].decision.reasons);
  }
}

TEST_CASE(
    "a forward that is off silently passes that on; one that runs under CUDA graphs passes nothing on") {
  const auto silent = pair(GraphBuilder(k2_15).set("partition_maps", pickle_text::list()),
                           GraphBuilder(k2_15).backward(), {"graph_partition=on"});
  CHECK(state_of(silent[1]) == CudagraphState::kSilent);
  const auto wrapped = pair(GraphBuilder(k2_15), GraphBuilder(k2_15).backward().reason("own reason"));
  CHECK(state_of(wrapped[1]) == CudagraphState::kSkipped);
  CHECK(wrapped[1].forward_reasons.empty());
  CHECK(reasons_of(wrapped[1]) == Lines{"own reason"});
  // Neither was asked: the forward has switched nothing off.
  const auto off = pair(GraphBuilder(k2_15), GraphBuilder(k2_15).backward(), {"cudagraphs=off"});
  CHECK(state_of(off[1]) == CudagraphState::kNotAsked);
  CHECK(off[1].forward_reasons.empty());
}

TEST_CASE("a backward is told of a forward that raises") {
  const auto graphs =
      pair(GraphBuilder(k2_15).reason("x"), GraphBuilder(k2_15).backward(), {"triton.cudagraph_or_error=on"});
  CHECK(state_of(graphs[0]) == CudagraphState::kRaises);
  REQUIRE(graphs[1].assumptions.size() == 1);
  CHECK(graphs[1].assumptions[0].find("raises first") != std::string::npos);
}

TEST_CASE("rows pair forward and backward; totals sum graphs and compile times") {
  CudagraphCollector collector;
  const auto graphs =
      pair(timed(GraphBuilder(k2_15).reason("skipping cudagraphs due to cpu device (primals_2)"), 2),
           timed(GraphBuilder(k2_15).backward(), 3));
  for (const GraphReplay& graph : graphs) collector.graph(graph);
  // The same pair through another entry: rows of their own, which don't count again.
  for (GraphReplay graph : graphs) {
    graph.aot->path = "aotautograd/other/entry";
    graph.counted = false;
    collector.graph(graph);
  }
  GraphReplay other = alone(timed(GraphBuilder(k2_15).backward(), 5));
  other.entry.path = "elsewhere";
  collector.graph(other);
  collector.failed({ErrorCode::kTruncated, "short", "path", {}, {}});

  const CudagraphReport& report = collector.report();
  REQUIRE(report.rows.size() == 5);
  CHECK_FALSE(report.rows[0].paired);
  CHECK(report.rows[1].paired);
  CHECK(report.rows[1].by_forward);
  CHECK(report.rows[1].reasons == Lines{"cpu device (primals_2)"});
  CHECK_FALSE(report.rows[2].paired);
  CHECK(report.rows[3].paired);
  CHECK_FALSE(report.rows[4].paired);
  CHECK(report.rows[4].partitions == 1);
  CHECK(report.pairs == 2);
  CHECK(report.all.graphs == 3);
  CHECK(report.all.compile_time_ns == 10 * kSecond);
  CHECK(report.of(CudagraphState::kSkipped).graphs == 2);
  CHECK(report.of(CudagraphState::kSkipped).compile_time_ns == 5 * kSecond);
  CHECK(report.of(CudagraphState::kPartitions).compile_time_ns == 5 * kSecond);
  REQUIRE(report.reasons.size() == 1);
  const auto& groups = report.reasons.at(CudagraphState::kSkipped);
  REQUIRE(groups.size() == 1);
  CHECK(groups.at("cpu device").graphs == 2);
  CHECK(collector.failures().size() == 1);
}

TEST_CASE("a graph with several reasons counts in each group") {
  CudagraphCollector collector;
  collector.graph(
      alone(GraphBuilder(k2_15).fails({"mutated inputs", "non-Tensor inputs"}), {"graph_partition=off"}));
  const auto& groups = collector.report().reasons.at(CudagraphState::kSkipped);
  CHECK(groups.size() == 2);
  CHECK(collector.report().all.graphs == 1);
}

TEST_SUITE_END();
