#include "replay/lookup.h"

#include <doctest/doctest.h>

#include "lookup_caches.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using enum torch::ReleaseFamily;
using pickle_text::none;
using pickle_text::text;

// torch/_inductor/codecache.py: FxGraphCache._lookup_graph (2.6, 2.7), GuardedCache.find_guarded_entry and
// iterate_over_candidates (2.8 to 2.15).

namespace {

const std::string kKey = kForwardKey;

// One candidate up to 8, one from 9.
CacheBuilder two_candidates(ReleaseFamily family) {
  CacheBuilder cache;
  cache.add_graph(kKey, guarded_graph(family, "2 <= L['t0'] and L['t0'] <= 8"), 'x');
  cache.add_graph(kKey, guarded_graph(family, "9 <= L['t0']"), 'y');
  return cache;
}

using Counters = std::vector<std::pair<std::string, std::int64_t>>;

}  // namespace

TEST_SUITE_BEGIN("replay/lookup");

TEST_CASE("the first candidate whose guards hold") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache = two_candidates(family);
    const Lookup small = look_up(cache, kKey, family, sizes("5,1"));
    CHECK(result(small) == "hit");
    CHECK(small.leaf == store_tests::leaf_name('x'));
    CHECK(small.path == "fxgraph/bb/" + kKey + "/" + small.leaf);
    CHECK(small.guards_expr == "2 <= L['t0'] and L['t0'] <= 8");
    CHECK(statuses(small) == "used not_reached");
    CHECK(small.counters == Counters{{"fxgraph_cache_hit", 1}});
    REQUIRE(small.entry);
    CHECK(small.entry->leaf == small.leaf);

    const Lookup large = look_up(cache, kKey, family, sizes("9,1"));
    CHECK(large.leaf == store_tests::leaf_name('y'));
    CHECK(statuses(large) == "guards_false used");

    const Lookup none_fits = look_up(cache, kKey, family, sizes("1,1"));
    CHECK(result(none_fits) == "guard_miss");
    CHECK(statuses(none_fits) == "guards_false guards_false");
    CHECK(none_fits.guards_expr == "9 <= L['t0']");  // the last that failed
    CHECK(none_fits.counters == Counters{{"fxgraph_cache_miss", 1}});
    CHECK_FALSE(none_fits.entry);
    CHECK(none_fits.leaf.empty());
  }
}

TEST_CASE("a candidate without guards, or with empty ones, is taken where it stands") {
  for (const auto family : kFamilies) {
    for (const std::string& guards : {none(), text("")}) {
      CacheBuilder cache = two_candidates(family);
      cache.add_graph(kKey, GraphBuilder(family).set("guards_expr", guards).pickle(), 'z');
      const Lookup first = look_up(cache, kKey, family, sizes("5,1"));
      CHECK(first.leaf == store_tests::leaf_name('x'));
      const Lookup last = look_up(cache, kKey, family, sizes("1,1"));
      CHECK(last.leaf == store_tests::leaf_name('z'));
      CHECK_FALSE(last.guards_expr);
      CHECK(statuses(last) == "guards_false guards_false used");
    }
  }
}

TEST_CASE("without the sizes that it needs the result is unknown") {
  CacheBuilder cache = two_candidates(k2_9);
  const Lookup lookup = look_up(cache, kKey, k2_9);
  CHECK(result(lookup) == "unknown");
  CHECK(statuses(lookup) == "guards_unknown guards_unknown");
  CHECK(lookup.message == "no hint for L['t0'] (s77)");
  CHECK(lookup.counters.empty());
  CHECK_FALSE(lookup.entry);
  // One that would be taken behind an open question stays open too.
  cache.add_graph(kKey, GraphBuilder(k2_9).pickle(), 'z');
  CHECK(statuses(look_up(cache, kKey, k2_9)) == "guards_unknown guards_unknown guards_true");
  CHECK(result(look_up(cache, kKey, k2_9)) == "unknown");
}

TEST_CASE("damaged candidates are warned of and passed over") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache = two_candidates(family);
    cache.add_graph(kKey, guarded_graph(family, "2 <= L['t0']").substr(0, 300), 'a');
    cache.add_graph(kKey, "", 'b');
    const Lookup lookup = look_up(cache, kKey, family, sizes("5,1"));
    CHECK(statuses(lookup) == "not_loaded not_loaded used not_reached");
    const std::string warning = family == k2_15 ? "FxGraphCache unable to load compiled graph"
                                                : "fx graph cache unable to load compiled graph";
    CHECK(lookup.log == Lines{warning, warning});
  }
  CacheBuilder only;
  only.add_graph(kKey, "junk", 'a');
  const Lookup lookup = look_up(only, kKey, k2_9, sizes("5,1,2"));
  CHECK(result(lookup) == "full_miss");
  CHECK(lookup.message == "no candidate loads");
  CHECK(lookup.counters == Counters{{"fxgraph_cache_miss", 1}});
}

TEST_CASE("names: dots from 2.11 on, and Python's order") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache = two_candidates(family);
    cache.add_file(kKey, ".12.34.tmp", guarded_graph(family, "2 <= L['t0']"));
    cache.add_file(kKey, ".hidden", "junk");
    const Lookup lookup = look_up(cache, kKey, family, sizes("5,1"));
    CHECK(statuses(lookup) ==
          (family < k2_11 ? "used not_reached not_reached not_reached" : "skipped skipped used not_reached"));
    CHECK(lookup.log.empty());
  }
  // Bytes put \xff last; Python decodes it as U+DCFF, before U+FFFF and what lies beyond.
  CHECK(python_name_before("\xff", "\xef\xbf\xbf"));
  CHECK(python_name_before("\xff", "\xf0\x90\x80\x80"));
  CHECK(python_name_before("\xc3\xa9", "\x80"));
  CHECK_FALSE(python_name_before("\x80", "\xc3\xa9"));
  CHECK(python_name_before("a", "ab"));
  CHECK_FALSE(python_name_before("a", "a"));
}

TEST_CASE("a root without guards_expr") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    for (const std::string& root :
         {none(), pickle_text::dict(), pickle_text::integer(7), pickle_text::tuple(text("a")),
          GraphBuilder(family).without("guards_expr").object()}) {
      CacheBuilder cache = two_candidates(family);
      cache.add_graph(kKey, pickle_text::pickle(root), 'a');
      const Lookup lookup = look_up(cache, kKey, family, sizes("5,1"));
      CHECK(result(lookup) == "raises");
      CHECK(statuses(lookup) == "raises not_reached not_reached");
      REQUIRE(lookup.raised);
      CHECK(lookup.raised->type == (family < k2_8 ? "AttributeError" : "AssertionError"));
      CHECK(lookup.counters.empty());
    }
  }
  CacheBuilder cache;
  cache.add_graph(kKey, pickle_text::pickle(pickle_text::dict()));
  CHECK(describe(*look_up(cache, kKey, k2_7).raised) ==
        "AttributeError: 'dict' object has no attribute 'guards_expr'");
  CHECK(describe(*look_up(cache, kKey, k2_13).raised) == "AssertionError");
  CHECK(describe(*look_up(cache, kKey, k2_14).raised) ==
        "AssertionError: Cache candidate <class 'dict'> missing 'guards_expr' attribute");
}

TEST_CASE("guards that raise end the lookup") {
  CacheBuilder cache = two_candidates(k2_15);
  cache.add_graph(kKey, guarded_graph(k2_15, "L['t0'] % (L['t0'] - 5) == 0"), 'a');
  const Lookup lookup = look_up(cache, kKey, k2_15, sizes("5,1"));
  CHECK(result(lookup) == "raises");
  CHECK(lookup.raised->type == "ZeroDivisionError");
  CHECK(result(look_up(cache, kKey, k2_15, sizes("6,1"))) == "hit");
}

TEST_CASE("an object of an unknown class may load or not") {
  CacheBuilder cache = two_candidates(k2_15);
  cache.add_graph(kKey, pickle_text::pickle(pickle_text::instance("my.module", "Thing", pickle_text::dict())),
                  'a');
  const Lookup lookup = look_up(cache, kKey, k2_15, sizes("5,1"));
  CHECK(result(lookup) == "unknown");
  CHECK(statuses(lookup) == "may_not_load guards_true not_reached");
  CHECK(lookup.message.find("my.module.Thing") != std::string::npos);
  // Behind the one that is used it doesn't matter.
  CacheBuilder after = two_candidates(k2_15);
  after.add_graph(kKey, pickle_text::pickle(pickle_text::instance("my.module", "Thing", pickle_text::dict())),
                  'z');
  CHECK(result(look_up(after, kKey, k2_15, sizes("5,1"))) == "hit");
}

TEST_CASE("a name inside that no torch stores leaves it open whether the candidate loads") {
  const std::string foreign = pickle_text::global("torch._inductor.metricz", "CachedMetricsDeltas");
  CacheBuilder cache;
  cache.add_graph(kKey, GraphBuilder(k2_15).set("_compile_context", foreign).pickle(), 'x');
  cache.add_graph(kKey, GraphBuilder(k2_15).pickle(), 'y');
  const Lookup lookup = look_up(cache, kKey, k2_15);
  CHECK(result(lookup) == "unknown");
  CHECK(statuses(lookup) == "may_not_load guards_true");
  CHECK(lookup.message ==
        "it names torch._inductor.metricz.CachedMetricsDeltas, which no studied torch stores");
  // With false guards it isn't used either way.
  CacheBuilder guarded = two_candidates(k2_15);
  guarded.add_graph(
      kKey,
      GraphBuilder(k2_15).set("guards_expr", text("L['t0'] == 0")).set("_compile_context", foreign).pickle(),
      'a');
  const Lookup other = look_up(guarded, kKey, k2_15, sizes("5,1"));
  CHECK(result(other) == "hit");
  CHECK(statuses(other) == "guards_false used not_reached");
  CHECK(other.assumptions.size() == 1);
}

TEST_CASE("another class with guards_expr is found and then fails") {
  CacheBuilder cache;
  cache.add_graph(kKey, aot_entry(none(), none()));
  CHECK(result(look_up(cache, kKey, k2_9)) == "raises");  // no guards_expr at all
  cache.add_graph(kKey, pickle_text::pickle(pickle_text::instance(
                            "torch._functorch._aot_autograd.autograd_cache", "AOTAutogradCacheEntry",
                            pickle_text::dict(text("guards_expr"), none()))));
  const Lookup lookup = look_up(cache, kKey, k2_9);
  CHECK(result(lookup) == "raises");
  CHECK(lookup.raised->type == "AttributeError");
  CHECK_FALSE(lookup.entry);
}

// torch/_inductor/codecache.py: FxGraphCache._lookup_graph (2.12).
TEST_CASE("extern libraries, 2.12 on") {
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache;
    cache.add_graph(kKey, GraphBuilder(family).set("extern_libs_key", text("libdevice-1")).pickle(), 'x');
    cache.add_graph(kKey, GraphBuilder(family).pickle(), 'y');
    const Lookup other = look_up(cache, kKey, family, {}, {true, "libdevice-2"});
    if (family < k2_12) {
      CHECK(result(other) == "hit");
      continue;
    }
    CHECK(result(other) == "guard_miss");  // no other candidate is tried
    CHECK(statuses(other) == "other_libraries not_reached");
    CHECK(other.message == "made with extern libraries libdevice-1, the machine has libdevice-2");
    CHECK(result(look_up(cache, kKey, family, {}, {true, std::nullopt})) == "guard_miss");
    CHECK(result(look_up(cache, kKey, family, {}, {true, "libdevice-1"})) == "hit");
    const Lookup open = look_up(cache, kKey, family);
    CHECK(result(open) == "hit");
    CHECK(open.assumptions.size() == 1);

    CacheBuilder without;
    without.add_graph(kKey, GraphBuilder(family).without("extern_libs_key").pickle());
    CHECK(describe(*look_up(without, kKey, family).raised) ==
          "AttributeError: 'CompiledFxGraph' object has no attribute 'extern_libs_key'");
    CacheBuilder null;
    null.add_graph(kKey, GraphBuilder(family).pickle());
    CHECK(result(look_up(null, kKey, family, {}, {true, "libdevice-2"})) == "hit");
  }
  CHECK(extern_libs_key_of("libdevice.10.bc", "abc") ==
        "libdevice-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("hints that fit nothing are refused; where nothing loads none is needed") {
  CacheBuilder cache = two_candidates(k2_9);
  LookupOptions options;
  REQUIRE(options.hints.add_named("s0=5"));
  const auto wrong = try_look_up(cache, kKey, options);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kUsage);
  CHECK(wrong.error().hint == "known: s77 is L['t0'], s27 is L['t1']");
  CacheBuilder damaged;
  damaged.add_graph(kKey, "junk");
  const auto nothing = try_look_up(damaged, kKey, options);
  REQUIRE(nothing);
  CHECK(result(*nothing) == "full_miss");
  CHECK(nothing->assumptions.size() == 1);  // the release
}

TEST_CASE("the release follows from the candidates") {
  CacheBuilder cache = two_candidates(k2_8);
  cache.add_graph(kKey, "junk", 'a');
  const auto lookup = try_look_up(cache, kKey, {});
  REQUIRE(lookup);
  CHECK(lookup->rules == k2_8);
  LookupOptions old;
  old.release = k2_5;
  const auto unknown = try_look_up(cache, kKey, old);
  REQUIRE(unknown);
  CHECK(result(*unknown) == "unknown");
  CHECK(unknown->message == "lookup not known for this release");
}

TEST_CASE("sizes are known from unfinished writes as well, which releases to 2.10 read") {
  CacheBuilder cache;
  cache.add_file(kKey, ".12.34.tmp", guarded_graph(k2_9, "2 <= L['t0']"));
  LookupOptions options;
  REQUIRE(options.hints.add_named("s77=5"));
  const auto lookup = try_look_up(cache, kKey, options);
  REQUIRE(lookup);
  CHECK(lookup->leaf == ".12.34.tmp");
}

TEST_CASE("where the entry fits releases on both sides of the rule for dots, that is said") {
  CacheBuilder cache;
  cache.add_graph(kKey, GraphBuilder(k2_10).pickle());
  const auto lookup = try_look_up(cache, kKey, {});
  REQUIRE(lookup);
  CHECK(lookup->rules == k2_11);
  CHECK(lookup->assumptions ==
        Lines{"the release is 2.11: 2.10 would read files whose names begin with a dot"});
}

TEST_CASE("a key without a directory") {
  CacheBuilder cache = two_candidates(k2_9);
  const Lookup lookup = look_up(cache, kBackwardKey, k2_9);
  CHECK(result(lookup) == "full_miss");
  CHECK(lookup.candidates.empty());
}

TEST_SUITE_END();
