#include "store/listing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../torch/pickle_text.h"
#include "store/ownership.h"
#include "store/statistics.h"
#include "store/words.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1'000'000 * kSecond;

std::string graph_pickle(std::int64_t time_ns, const std::string& wrapper) {
  using namespace pickle_text;
  return pickle(instance("torch._inductor.output_code", "CompiledFxGraph",
                         dict(text("cache_key"), text(wrapper), text("device_types"), set(text("cpu")),
                              text("_time_taken_ns"), integer(time_ns))));
}

std::string entry_pickle(const std::string& graph, std::int64_t time_ns) {
  using namespace pickle_text;
  const std::string module = "torch._functorch._aot_autograd.autograd_cache";
  return pickle(
      instance(module, "AOTAutogradCacheEntry",
               dict(text("compiled_fw"),
                    instance(module, "CompiledForward", dict(text("fx_graph_cache_key"), text(graph))),
                    text("compiled_bw"), none(), text("forward_time_taken_ns"), integer(time_ns))));
}

// One graph of 5 s that an entry of 7 s names, another graph of 3 s, and a damaged one.
struct Cache {
  MemoryFileSystem fs;
  Interner strings;
  ThreadPool pool{2};
  const std::string named = hash_name('f', 'b');
  const std::string alone = hash_name('f', 'c');
  const std::string broken = hash_name('f', 'd');
  const std::string entry = hash_name('a', 'b');
  const std::string wrapper = hash_name('c', 'b');

  Cache() {
    fs.set_now(kNow);
    add("/cache/" + fx_directory(named) + "/" + leaf_name('b'), graph_pickle(5 * kSecond, wrapper), 10);
    add("/cache/" + fx_directory(alone) + "/" + leaf_name('c'), graph_pickle(3 * kSecond, wrapper), 20);
    add("/cache/" + fx_directory(broken) + "/" + leaf_name('d'), "\x80\x04garbage", 30);
    add("/cache/aotautograd/" + entry + "/entry", entry_pickle(named, 7 * kSecond), 40);
    add("/cache/" + shard_file(wrapper, "py"), "def call(args):\n    pass\n", 50);
  }

  void add(const std::string& path, const std::string& bytes, std::int64_t age_seconds) {
    fs.add_file(path, bytes);
    fs.change_stat(path, [&](FileStat& stat) { stat.mtime_ns = kNow - age_seconds * kSecond; });
  }

  Listing list(const ListingOptions& options = {}) {
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    auto listing = make_listing(fs, *source, pool, strings, options);
    REQUIRE(listing);
    return std::move(*listing);
  }

  std::vector<std::string> shown(const Listing& listing) const {
    std::vector<std::string> keys;
    for (const std::uint32_t i : listing.shown)
      keys.push_back(listing.rows[i].summary.key.str().substr(0, 2));
    return keys;
  }
};

}  // namespace

TEST_CASE("a listing has a row for every entry, damaged ones too, and counts no compile twice") {
  Cache cache;
  const Listing listing = cache.list();
  REQUIRE(listing.rows.size() == 4);
  CHECK(listing.totals.entries == 4);
  CHECK(listing.totals.fx_graphs == 3);
  CHECK(listing.totals.aot_entries == 1);
  CHECK(listing.totals.damaged == 1);
  CHECK(listing.totals.compile_time_ns == 10 * kSecond);
  CHECK(listing.several_leaves == false);
  const auto damaged = std::find_if(listing.rows.begin(), listing.rows.end(),
                                    [](const EntryRow& row) { return row.state == EntryState::kDamaged; });
  REQUIRE(damaged != listing.rows.end());
  CHECK(damaged->summary.key.str() == cache.broken);
  CHECK(!cache.strings.text(damaged->problem).empty());
  CHECK(damaged->bytes == 9);
}

TEST_CASE("an entry that may not be read is a row, one that vanished isn't") {
  Cache cache;
  cache.fs.set_error("/cache/" + fx_directory(cache.alone) + "/" + leaf_name('c'), ErrorCode::kPermission);
  cache.fs.set_error("/cache/" + fx_directory(cache.named) + "/" + leaf_name('b'), ErrorCode::kVanished);
  const Listing listing = cache.list();
  CHECK(listing.rows.size() == 3);
  CHECK(listing.totals.unreadable == 1);
  CHECK(listing.totals.compile_time_ns == 7 * kSecond);
}

TEST_CASE("filters, orders and limits pick rows; totals are of what passed the filter") {
  Cache cache;
  ListingOptions options;
  options.filter = *Filter::parse("kind=fx,state=ok");
  options.sort = SortKey::kTime;
  CHECK(cache.shown(cache.list(options)) == std::vector<std::string>{"fb", "fc"});
  options.reverse = true;
  options.limit = 1;
  const Listing limited = cache.list(options);
  CHECK(cache.shown(limited) == std::vector<std::string>{"fc"});
  CHECK(limited.totals.entries == 2);
  // The entry that contains the first graph isn't listed, so the graph's own time counts.
  CHECK(limited.totals.compile_time_ns == 8 * kSecond);
  options = {};
  options.sort = SortKey::kAge;
  CHECK(cache.shown(cache.list(options)) == std::vector<std::string>{"fb", "fc", "fd", "ab"});
}

TEST_CASE("a progress callback can stop the work") {
  Cache cache;
  const auto source = open_source(cache.fs, "/cache");
  ListingOptions options;
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  const auto listing = make_listing(cache.fs, *source, cache.pool, cache.strings, options);
  REQUIRE(!listing);
  CHECK(listing.error().code == ErrorCode::kInterrupted);
}

TEST_CASE("statistics sum files by kind and age, hard links once") {
  Cache cache;
  const std::string module = "/cache/" + shard_file(cache.wrapper, "py");
  cache.fs.add_hard_link("/cache/" + shard_file(hash_name('c', 'e'), "py"), module);
  cache.add("/cache/zz/" + hash_name('c', 'z') + ".unheard-of", "x", 60);
  const auto source = open_source(cache.fs, "/cache");
  const auto statistics = make_statistics(cache.fs, *source, cache.pool, cache.strings, {}, {});
  REQUIRE(statistics);
  CHECK(statistics->total.files == 6);
  const auto files = [&](ArtifactKind kind) {
    return statistics->kinds[static_cast<std::size_t>(kind)].files;
  };
  CHECK(files(ArtifactKind::kFxGraphEntry) == 3);
  CHECK(files(ArtifactKind::kAotAutogradEntry) == 1);
  CHECK(files(ArtifactKind::kPythonModule) == 1);
  CHECK(files(ArtifactKind::kUnknown) == 1);
  REQUIRE(!statistics->ages.empty());
  CHECK(statistics->ages.front().tally.files == 6);
  CHECK(statistics->entries.damaged == 1);
  REQUIRE(!statistics->largest.empty());
  CHECK(statistics->largest.front().summary.key.str() == cache.entry);
}

TEST_CASE("a module's owners are the graphs that name it and the entries above them") {
  Cache cache;
  const auto source = open_source(cache.fs, "/cache");
  const auto references = ReferenceIndex::build(*source, cache.pool);
  REQUIRE(references);
  const auto environment = plain_environment();
  const auto found =
      find_owners(source->cache(), environment, *references, "/cache/" + shard_file(cache.wrapper, "py"));
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  std::vector<std::string> owners;
  for (const Owner& owner : found->front().owners) owners.push_back(owner.key);
  std::sort(owners.begin(), owners.end());
  CHECK(owners == std::vector<std::string>{cache.entry, cache.named, cache.alone});
  CHECK(find_owners(source->cache(), environment, *references, "/elsewhere/" + cache.wrapper + ".py")
            .has_value());
  const auto nothing = find_owners(source->cache(), environment, *references, "/cache/nothing.py");
  REQUIRE(!nothing);
  CHECK(nothing.error().code == ErrorCode::kNotFound);
}
