#include "replay/aot_graphs.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::none;
using pickle_text::text;

// torch/_functorch/_aot_autograd/aot_autograd_result.py: FxGraphCacheLoadable.load (2.10, in
// autograd_cache.py before); torch/_inductor/codecache.py: GuardedCache (2.8).

namespace {

constexpr ReleaseFamily kGuarded[] = {k2_8, k2_9, k2_10, k2_11, k2_12, k2_13, k2_14, k2_15};

std::string guarded(ReleaseFamily family, std::string_view guards) {
  return GraphBuilder(family).set("guards_expr", text(guards)).pickle();
}

// What torch loads for a reference with those guards: the leaf, or why there is none.
std::string found(CacheBuilder& cache, ReleaseFamily family, const std::string& guards,
                  const std::string& key = kForwardKey, std::string* assumption = nullptr) {
  const Decoded decoded = decode(aot_entry(graph_reference("CompiledForward", family, key, guards), none()));
  REQUIRE(decoded.aot_entry() != nullptr);
  const auto graph =
      find_aot_graph(cache.source(), *decoded.aot_entry()->compiled_fw, 0, *rules_of(family), {});
  REQUIRE(graph);
  CHECK((graph->code == nullptr) == !graph->missing.empty());
  if (assumption != nullptr) *assumption = graph->assumption;
  if (graph->code == nullptr) return graph->missing;
  REQUIRE(graph->entry != nullptr);
  CHECK(graph->code == graph->entry->decoded.output_code());
  return graph->entry->leaf;
}

std::string leaf(char fill) {
  return store_tests::leaf_name(fill);
}

}  // namespace

TEST_SUITE_BEGIN("replay/aot_graphs");

TEST_CASE("the candidate with exactly the recorded guards, 2.8 on") {
  for (const auto family : kGuarded) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    cache.add_graph(kForwardKey, guarded(family, "s0 < 4"), 'x');
    cache.add_graph(kForwardKey, guarded(family, "4 <= s0"), 'y');
    CHECK(found(cache, family, text("s0 < 4")) == leaf('x'));
    CHECK(found(cache, family, text("4 <= s0")) == leaf('y'));
    const std::string nothing =
        "no FX entry of key " + kForwardKey + " has the recorded guards: torch counts a miss";
    // The text is compared, not what it says.
    CHECK(found(cache, family, text("s0 >= 4")) == nothing);
    CHECK(found(cache, family, text("")) == nothing);
    CHECK(found(cache, family, none()) == nothing);
  }
}

TEST_CASE("a candidate without guards is taken before anything is compared") {
  for (const auto family : kGuarded) {
    CacheBuilder cache;
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle(), 'a');
    cache.add_graph(kForwardKey, guarded(family, "s0 < 4"), 'x');
    CHECK(found(cache, family, text("s0 < 4")) == leaf('a'));
  }
  CacheBuilder empty;
  empty.add_graph(kForwardKey, guarded(k2_15, ""), 'a');
  CHECK(found(empty, k2_15, text("s0 < 4")) == leaf('a'));
}

TEST_CASE("2.6 and 2.7 evaluate the guards anew: the first is assumed, and that is said") {
  for (const auto family : {k2_6, k2_7}) {
    CacheBuilder cache;
    cache.add_graph(kForwardKey, guarded(family, "s0 < 4"), 'x');
    cache.add_graph(kForwardKey, guarded(family, "4 <= s0"), 'y');
    std::string assumption;
    CHECK(found(cache, family, none(), kForwardKey, &assumption) == leaf('x'));
    CHECK(assumption.starts_with("the guards of fxgraph/"));
    // One without guards behind them changes nothing: torch gets to it only when theirs are false.
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle(), 'z');
    CHECK(found(cache, family, none(), kForwardKey, &assumption) == leaf('x'));
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle(), 'a');
    CHECK(found(cache, family, none(), kForwardKey, &assumption) == leaf('a'));
    CHECK(assumption.empty());
  }
}

TEST_CASE("candidates that don't decode are passed over") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, "junk", 'a');
  cache.add_graph(kForwardKey, GraphBuilder(k2_15).pickle().substr(0, 200), 'b');
  CHECK(found(cache, k2_15, none()) ==
        "no FX entry of key " + kForwardKey + " can be loaded: torch counts a miss");
  cache.add_graph(kForwardKey, GraphBuilder(k2_15).pickle(), 'c');
  CHECK(found(cache, k2_15, none()) == leaf('c'));
}

TEST_CASE("an object without guards_expr makes torch bypass the cache") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    cache.add_graph(kForwardKey, pickle_text::pickle(none()), 'b');
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle(), 'c');
    const std::string why = found(cache, family, none());
    CHECK(why.find(family < k2_8 ? "raises AttributeError" : "raises AssertionError") != std::string::npos);
    CHECK(why.ends_with("torch bypasses the AOTAutograd cache"));
  }
}

TEST_CASE("names with a dot in front are read to 2.10, passed over from 2.11") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    cache.add_file(kForwardKey, "." + leaf('a'), GraphBuilder(family).pickle());
    cache.add_graph(kForwardKey, GraphBuilder(family).pickle(), 'z');
    CHECK(found(cache, family, none()) == (family < k2_11 ? "." + leaf('a') : leaf('z')));
  }
}

TEST_CASE("no such key, and no key at all") {
  CacheBuilder cache;
  cache.add_graph(kForwardKey, GraphBuilder(k2_15).pickle());
  CHECK(found(cache, k2_15, none(), kBackwardKey) ==
        "no FX entry of key " + kBackwardKey + ": torch counts a miss and compiles again");
  CHECK(found(cache, k2_15, none(), "../../etc/passwd") == "'../../etc/passwd' is no key of an FX graph");
}

TEST_CASE("a bundled graph is the entry's own") {
  const Decoded decoded = decode(pickle_text::entry_file("aotautograd-2.9.1-bundled.pkl"));
  CacheBuilder cache;
  cache.add_graph(kForwardKey, GraphBuilder(k2_9).pickle());
  const auto graph =
      find_aot_graph(cache.source(), *decoded.aot_entry()->compiled_fw, 0, *rules_of(k2_9), {});
  REQUIRE(graph);
  CHECK(graph->code == decoded.aot_entry()->compiled_fw->result.get());
  CHECK(graph->entry == nullptr);
}

TEST_SUITE_END();
