#include <doctest/doctest.h>

#include "cache_builder.h"
#include "replay/replay.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;

namespace {

const std::string kSecondAot = store_tests::hash_name('a', 'e');
const std::string kLoneKey = store_tests::hash_name('f', 'g');

struct Recorder final : ReplaySink {
  std::vector<GraphReplay> graphs;
  std::vector<Error> errors;
  void graph(const GraphReplay& graph) override { graphs.push_back(graph); }
  void failed(const Error& error) override { errors.push_back(error); }
  // "<letter of the key> <letter of the AOTAutograd key or -> <callable>", with "!" where it isn't counted.
  Lines lines() const {
    Lines lines;
    for (const GraphReplay& graph : graphs)
      lines.push_back(graph.entry.key.substr(1, 1) + " " + (graph.aot ? graph.aot->key.substr(1, 1) : "-") +
                      " " + std::string(callable_name(graph.decision.callable)) +
                      (graph.counted ? "" : " !"));
    return lines;
  }
};

Recorder replay_all(CacheBuilder& cache, ReleaseFamily family, const std::string& path = "",
                    std::size_t threads = 2) {
  ReplayOptions options;
  options.release = family;
  options.settings = given({"graph_partition=off"});
  ThreadPool pool(threads);
  Recorder recorder;
  std::vector<store::Skipped> skipped;
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  REQUIRE(replay_cache(cache.source(path), pool, options, recorder, skipped,
                       [&](std::uint64_t done, std::uint64_t total) {
                         CHECK(done == last + 1);
                         last = done;
                         all = total;
                         return true;
                       }));
  CHECK(last == all);
  CHECK(skipped.empty());
  return recorder;
}

std::string pair_of(ReleaseFamily family, const std::string& forward = kForwardKey,
                    const std::string& backward = kBackwardKey) {
  return aot_entry(graph_reference("CompiledForward", family, forward),
                   graph_reference("CompiledBackward", family, backward));
}

void add_graphs(CacheBuilder& cache, ReleaseFamily family) {
  cache.add_graph(kForwardKey, GraphBuilder(family).pickle());
  cache.add_graph(kBackwardKey, GraphBuilder(family).backward().pickle());
}

}  // namespace

TEST_SUITE_BEGIN("replay/replay_cache");

TEST_CASE("pairs first, then the graphs that none names") {
  for (const auto family : {k2_6, k2_9, k2_15}) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    add_graphs(cache, family);
    cache.add_graph(kLoneKey, GraphBuilder(family).inference().pickle());
    cache.add_graph(kForwardKey, GraphBuilder(family).reason("r").pickle(), 'm');
    cache.add_aot(kAotKey, pair_of(family));
    const Lines expected{"b d cudagraph", "c d cudagraph", "b - plain", "g - cudagraph"};
    CHECK(replay_all(cache, family).lines() == expected);
    CHECK(replay_all(cache, family, "", 1).lines() == expected);
  }
}

TEST_CASE("a graph that several entries name counts once") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  cache.add_aot(kAotKey, pair_of(k2_15));
  cache.add_aot(kSecondAot, pair_of(k2_15));
  CHECK(replay_all(cache, k2_15).lines() ==
        Lines{"b d cudagraph", "c d cudagraph", "b e cudagraph !", "c e cudagraph !"});
}

TEST_CASE("2.8 on: without its partner nothing of a pair is decided, but torch looks for it alone") {
  for (const auto family : {k2_7, k2_8, k2_15}) {
    CAPTURE(torch::family_name(family));
    const bool both_first = family >= k2_8;
    CacheBuilder no_backward;
    no_backward.add_graph(kForwardKey, GraphBuilder(family).pickle());
    no_backward.add_aot(kAotKey, pair_of(family));
    const Recorder forward = replay_all(no_backward, family);
    CHECK(forward.lines() ==
          Lines{both_first ? "b d unknown !" : "b d cudagraph !", "c d unknown", "b - cudagraph"});
    // Its files are written all the same: both are loaded one after the other.
    CHECK_FALSE(forward.graphs[0].on_hit.files_written.empty());
    if (both_first)
      CHECK(forward.graphs[0].decision.reasons ==
            Lines{"its backward is missing: torch counts a miss before any post-compile"});

    CacheBuilder no_forward;
    no_forward.add_graph(kBackwardKey, GraphBuilder(family).backward().pickle());
    no_forward.add_aot(kAotKey, pair_of(family));
    const Recorder backward = replay_all(no_forward, family);
    CHECK(backward.lines() == Lines{"b d unknown", "c d unknown !", "c - cudagraph"});
    CHECK(backward.graphs[1].on_hit.files_written.empty());
    CHECK(backward.graphs[1].decision.reasons ==
          Lines{"its forward is missing: torch counts a miss before it comes to this one"});
  }
}

TEST_CASE("a graph of an incomplete pair may be in a complete one") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  cache.add_aot(kAotKey, pair_of(k2_15, kForwardKey, kLoneKey));
  cache.add_aot(kSecondAot, pair_of(k2_15));
  CHECK(replay_all(cache, k2_15).lines() ==
        Lines{"b d unknown !", "g d unknown", "b e cudagraph", "c e cudagraph"});
}

TEST_CASE("a damaged entry doesn't stop the others") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  cache.add_aot(kAotKey, "junk");
  cache.add_graph(kLoneKey, "junk");
  const Recorder recorder = replay_all(cache, k2_15);
  CHECK(recorder.lines() == Lines{"b - cudagraph", "c - cudagraph"});
  REQUIRE(recorder.errors.size() == 2);
  CHECK(recorder.errors[0].path.starts_with("aotautograd/"));
  CHECK(recorder.errors[1].path.starts_with("fxgraph/"));
}

TEST_CASE("a part of a cache: pairs from outside it, nothing else") {
  const auto fill = [](CacheBuilder& cache) {
    add_graphs(cache, k2_15);
    cache.add_graph(kLoneKey, GraphBuilder(k2_15).pickle());
    cache.add_aot(kAotKey, pair_of(k2_15));
    cache.add_aot(kSecondAot, "junk");
  };
  CacheBuilder graphs;
  fill(graphs);
  const Recorder all = replay_all(graphs, k2_15, "/fxgraph");
  CHECK(all.lines() == Lines{"b d cudagraph", "c d cudagraph", "g - cudagraph"});
  CHECK(all.errors.empty());
  CacheBuilder one;
  fill(one);
  CHECK(replay_all(one, k2_15, "/" + store_tests::fx_directory(kBackwardKey)).lines() ==
        Lines{"c d cudagraph"});
  CacheBuilder pairs;
  fill(pairs);
  const Recorder aot = replay_all(pairs, k2_15, "/aotautograd");
  CHECK(aot.lines() == Lines{"b d cudagraph", "c d cudagraph"});
  CHECK(aot.errors.size() == 1);
}

TEST_CASE("it stops when told to") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  ThreadPool pool(1);
  Recorder recorder;
  std::vector<store::Skipped> skipped;
  const auto done = replay_cache(cache.source(), pool, {}, recorder, skipped,
                                 [](std::uint64_t, std::uint64_t) { return false; });
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::kInterrupted);
  CHECK(recorder.graphs.size() == 1);
}

TEST_CASE("what can't be looked into") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  cache.files().set_error("/cache/" + store_tests::fx_directory(kForwardKey), ErrorCode::kPermission);
  ThreadPool pool(1);
  Recorder recorder;
  std::vector<store::Skipped> skipped;
  REQUIRE(replay_cache(cache.source(), pool, {}, recorder, skipped, {}));
  CHECK(recorder.graphs.size() == 1);
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0].error.code == ErrorCode::kPermission);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("replay/pairing");

namespace {

GraphReplay replay_backward(CacheBuilder& cache, ReleaseFamily family,
                            std::initializer_list<std::string_view> settings = {}) {
  ReplayOptions options;
  options.release = family;
  options.settings = given(settings);
  auto graphs = replay_entry(cache.source(), cache.entry(kBackwardKey), options);
  REQUIRE(graphs);
  REQUIRE(graphs->size() == 1);
  return std::move(graphs->front());
}

}  // namespace

TEST_CASE("a backward asked for alone is decided after its forward") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    cache.add_graph(kForwardKey, GraphBuilder(family).reason("r").pickle());
    cache.add_graph(kBackwardKey, GraphBuilder(family).backward().pickle());
    cache.add_aot(kAotKey, pair_of(family));
    const GraphReplay graph = replay_backward(cache, family);
    REQUIRE(graph.aot);
    CHECK(graph.aot->key == kAotKey);
    CHECK(graph.entry.key == kBackwardKey);
    CHECK_FALSE(graph.before.cudagraphs);
    CHECK(graph.decision.outcome == Outcome::kNotAsked);
    CHECK(graph.assumptions.empty());
    // There is nothing to take from a forward then.
    CHECK_FALSE(replay_backward(cache, family, {"cudagraphs=off"}).aot);
  }
}

TEST_CASE("of several pairs the first, which is said") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  cache.add_aot(kSecondAot, pair_of(k2_15));
  cache.add_aot(kAotKey, pair_of(k2_15));
  const GraphReplay graph = replay_backward(cache, k2_15);
  CHECK(graph.aot->key == kAotKey);
  REQUIRE(graph.assumptions.size() == 1);
  CHECK(graph.assumptions[0].ends_with("1 more entry names this graph"));
}

TEST_CASE("a backward without a pair stays alone") {
  CacheBuilder cache;
  add_graphs(cache, k2_15);
  SUBCASE("no entry names it as a backward") {
    cache.add_aot(kAotKey, pair_of(k2_15, kBackwardKey, kForwardKey));
  }
  SUBCASE("the forward is missing") {
    cache.add_aot(kAotKey, pair_of(k2_15, kLoneKey));
  }
  SUBCASE("the entry that names it is damaged") {
    cache.add_aot(kAotKey, kBackwardKey);
  }
  const GraphReplay graph = replay_backward(cache, k2_15);
  CHECK_FALSE(graph.aot);
  CHECK(graph.before.forward_device_index.value == 3);
  CHECK(graph.assumptions.size() == 1);
}

TEST_SUITE_END();
