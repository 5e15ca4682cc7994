#include "replay/on_hit.h"

#include <doctest/doctest.h>

#include "cache_builder.h"

using namespace cachetool;
using namespace cachetool::replay;
using namespace graph_builder;
using namespace pickle_text;
using enum torch::ReleaseFamily;

namespace {

constexpr std::string_view kBundler = "torch._inductor.triton_bundler";
constexpr std::string_view kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr std::string_view kBase32 = "AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPQ";
constexpr std::string_view kOther = "BAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPQ";

std::string kernel(std::string_view hash, std::int64_t device,
                   std::initializer_list<std::string_view> files) {
  std::string artifacts;
  for (const std::string_view file : files)
    artifacts += instance(kBundler, "TritonKernelArtifact",
                          dict(text("filename"), text(file), text("payload"), bytes("12345")));
  return instance(kBundler, "TritonKernelArtifacts",
                  dict(text("kernel_hash"), text(hash), text("device"), integer(device), text("artifacts"),
                       list(artifacts)));
}

// A kernel k that is launched without Triton; `members` are opcodes of more members.
std::string autotuner(const std::string& members = {}, const std::string& device = integer(0)) {
  const std::string runtime = "torch._inductor.runtime.";
  const auto launched = instance(runtime + "static_triton_launcher", "StaticallyLaunchedCudaKernel",
                                 dict(text("name"), text("k"), text("hash"), text(kHex), members));
  const auto result =
      instance(runtime + "triton_heuristics", "StaticTritonCompileResult",
               dict(text("kernel"), launched, text("compile_meta"), dict(text("device"), device)));
  const auto caching = instance(runtime + "triton_heuristics", "CachingAutotuner",
                                dict(text("compile_results"), list(result)));
  return instance(
      kBundler, "StaticallyLaunchedAutotuner",
      dict(text("cache_key"), text("x"), text("kernel_name"), text("triton_k"), text("kernel"), caching));
}

std::string bundle(const std::string& kernels, const std::string& autotuners = {}) {
  return instance(kBundler, "TritonBundle",
                  dict(text("kernel_artifacts"), list(kernels), text("static_autotuners"), list(autotuners)));
}

// A graph with a bundle; 2.6 and 2.7 keep the kernels in a bare list.
GraphBuilder bundled(ReleaseFamily family, const std::string& kernels, const std::string& autotuners = {}) {
  GraphBuilder graph(family);
  graph.set("_triton_bundle", family <= k2_7 ? list(kernels) : bundle(kernels, autotuners));
  return graph;
}

OnHit hit(CacheBuilder& cache, const GraphBuilder& builder, Hit how) {
  const torch::Decoded decoded = decode(builder.pickle());
  return on_hit(*decoded.fx_graph(), cache.source(), how, *rules_of(builder.family()));
}

const std::string kModule = "bb/c" + std::string(50, 'b') + "a.py";

// A cache in which the wrapper module is there.
CacheBuilder cache_with_module() {
  CacheBuilder cache;
  cache.files().add_file("/cache/" + kModule, "pass");
  cache.files().add_dir("/cache/fxgraph");
  return cache;
}

Hit in_store(HeldBy held_by = HeldBy::kFxEntry) {
  return {held_by, std::uint16_t{0}, nullptr};
}

using Pairs = Counts;

}  // namespace

TEST_SUITE_BEGIN("replay/on_hit");

TEST_CASE("what the entry stores is added as it is") {
  GraphBuilder graph(k2_15);
  graph.set("counter_deltas", dict(text("extern_calls"), integer(2), text("a"), integer(-1)));
  graph.set("metrics_deltas", instance("torch._inductor.metrics", "CachedMetricsDeltas",
                                       dict(text("num_bytes_accessed"), integer(7),
                                            text("generated_kernel_count"), integer(0))));
  CacheBuilder cache = cache_with_module();
  const OnHit result = hit(cache, graph, in_store());
  CHECK(result.counter_deltas == Pairs{{"extern_calls", 2}, {"a", -1}});
  CHECK(result.metrics_deltas == Pairs{{"generated_kernel_count", 0}, {"num_bytes_accessed", 7}});
  CHECK(result.counters == Pairs{{"fxgraph_cache_hit", 1}});
  CHECK(result.files_written.empty());
  CHECK(result.files_known);
}

TEST_CASE("a missing wrapper module is written") {
  CacheBuilder cache;
  cache.files().add_dir("/cache/fxgraph");
  const OnHit result = hit(cache, GraphBuilder(k2_6), in_store());
  CHECK(result.files_written == Lines{kModule});
  CHECK(result.counters == Pairs{{"fxgraph_lookup_write_file", 1}, {"fxgraph_cache_hit", 1}});
  std::set<std::string> written{"/cache/" + kModule};
  CHECK(hit(cache, GraphBuilder(k2_6), {HeldBy::kFxEntry, std::uint16_t{0}, &written}).files_written.empty());
}

TEST_CASE("whether a module is there can't be told through a link") {
  CacheBuilder cache;
  cache.files().add_dir("/cache/fxgraph");
  cache.files().add_symlink("/cache/" + kModule, "/elsewhere");
  const OnHit result = hit(cache, GraphBuilder(k2_15), in_store());
  CHECK(result.files_written.empty());
  CHECK_FALSE(result.files_known);
}

TEST_CASE("a name that is none isn't looked for") {
  GraphBuilder graph(k2_15);
  graph.set("cache_key", text("../../x"));
  CacheBuilder cache = cache_with_module();
  CHECK_FALSE(hit(cache, graph, in_store()).files_known);
  const auto kernels = kernel("../up", 0, {"k.cubin"});
  const OnHit result = hit(cache, bundled(k2_15, kernels), in_store());
  REQUIRE(result.triton.size() == 1);
  CHECK(result.triton[0].path.empty());
  CHECK_FALSE(result.triton[0].shadowed);
}

TEST_CASE("hits are counted by those who look entries up, and by bundled ones in 2.8") {
  CacheBuilder cache = cache_with_module();
  for (const auto family : kFamilies) {
    CAPTURE(torch::family_name(family));
    const Pairs counted{{"fxgraph_cache_hit", 1}};
    CHECK(hit(cache, GraphBuilder(family), in_store()).counters == counted);
    const bool bundled_too = family == k2_8;
    CHECK(hit(cache, GraphBuilder(family), in_store(HeldBy::kAotEntry)).counters ==
          (bundled_too ? counted : Pairs{}));
  }
}

TEST_CASE("Triton directories are emitted unless something is there") {
  for (const auto family : {k2_6, k2_7, k2_8, k2_15}) {
    CAPTURE(torch::family_name(family));
    CacheBuilder cache = cache_with_module();
    cache.files().add_file("/cache/triton/0/" + std::string(kOther) + "/left.json", "{}");
    cache.files().add_dir("/cache/triton/0/EMPTY");
    const auto kernels = kernel(kBase32, 0, {"k.cubin", "k.json"}) + kernel(kOther, 0, {"k.cubin"}) +
                         kernel("EMPTY", 0, {"k.cubin"}) + kernel(kBase32, 0, {"k.cubin", "k.json"});
    const OnHit result = hit(cache, bundled(family, kernels), in_store());
    REQUIRE(result.triton.size() == 4);
    CHECK(result.triton[0].path == "triton/0/" + std::string(kBase32));
    CHECK(result.triton[0].shadowed == false);
    CHECK(result.triton[0].files == 2);
    CHECK(result.triton[0].bytes == 10);
    CHECK(result.triton[1].shadowed == true);
    CHECK(result.triton[2].shadowed == false);
    // The directory that the first one made.
    CHECK(result.triton[3].shadowed == true);
    // One for each file, in every release.
    CHECK(result.counters == Pairs{{"triton_bundler_read_and_emit_kernel", 3}, {"fxgraph_cache_hit", 1}});
  }
}

TEST_CASE("what the forward wrote, the backward finds") {
  CacheBuilder cache = cache_with_module();
  std::set<std::string> written;
  const Hit how{HeldBy::kFxEntry, std::uint16_t{0}, &written};
  const auto graph = bundled(k2_15, kernel(kBase32, 0, {"k.cubin"}), autotuner());
  CHECK(hit(cache, graph, how).triton.at(0).shadowed == false);
  const OnHit second = hit(cache, graph, how);
  CHECK(second.triton.at(0).shadowed == true);
  CHECK(second.counters == Pairs{{"triton_bundler_load_static_autotuner", 1}, {"fxgraph_cache_hit", 1}});
}

TEST_CASE("static launchers need their binary") {
  CacheBuilder cache = cache_with_module();
  SUBCASE("it is in the bundle") {
    const OnHit result = hit(cache, bundled(k2_9, kernel(kBase32, 0, {"k.cubin"}), autotuner()), in_store());
    CHECK(result.static_autotuners == 1);
    CHECK(result.counters == Pairs{{"triton_bundler_read_and_emit_kernel", 1},
                                   {"triton_bundler_load_static_autotuner", 1},
                                   {"fxgraph_cache_hit", 1}});
  }
  SUBCASE("it isn't: a directory without it hides the bundle's") {
    cache.files().add_file("/cache/triton/0/" + std::string(kBase32) + "/k.json", "{}");
    const OnHit result = hit(cache, bundled(k2_9, kernel(kBase32, 0, {"k.cubin"}), autotuner()), in_store());
    CHECK(result.triton.at(0).shadowed == true);
    CHECK(result.static_missing == Lines{"triton_k"});
    CHECK(result.counters == Pairs{{"fxgraph_cache_hit", 1}});
    CHECK(result.files_known);
  }
  SUBCASE("the entry holds it apart") {
    const auto raw = text("cubin_raw") + bytes("\x7f") + text("cubin_path") + none();
    const OnHit result = hit(cache, bundled(k2_15, {}, autotuner(raw)), in_store());
    CHECK(result.files_written == Lines{"triton/0/" + std::string(kBase32) + "/k.cubin"});
    CHECK(result.counters == Pairs{{"triton_bundler_load_static_autotuner", 1}, {"fxgraph_cache_hit", 1}});
  }
  SUBCASE("for whichever device is current: unknown") {
    const OnHit result =
        hit(cache, bundled(k2_15, kernel(kBase32, 0, {"k.cubin"}), autotuner({}, none())), in_store());
    CHECK_FALSE(result.files_known);
    CHECK(result.static_missing.empty());
  }
  SUBCASE("switched off by the key, under the name that the release reads") {
    auto graph = bundled(k2_9, kernel(kBase32, 0, {"k.cubin"}), autotuner());
    graph.key_lines({"[" + std::string(51, 'a') + "] inductor_config[use_static_cuda_launcher]: False"});
    const Pairs counted{{"triton_bundler_read_and_emit_kernel", 1}, {"fxgraph_cache_hit", 1}};
    CHECK(hit(cache, graph, in_store()).counters == counted);
    const torch::Decoded decoded = decode(graph.pickle());
    CHECK(on_hit(*decoded.fx_graph(), cache.source(), in_store(), *rules_of(k2_11)).counters != counted);
  }
}

TEST_CASE("bundles that are switched off aren't emitted") {
  CacheBuilder cache = cache_with_module();
  auto graph = bundled(k2_15, kernel(kBase32, 0, {"k.cubin"}), autotuner());
  graph.key_lines(
      {"[" + std::string(51, 'a') + "] inductor_config[bundle_triton_into_fx_graph_cache]: False"});
  const OnHit result = hit(cache, graph, in_store());
  CHECK(result.triton.empty());
  CHECK(result.static_autotuners == 1);
  CHECK(result.counters == Pairs{{"fxgraph_cache_hit", 1}});
}

TEST_CASE("kernels of a second device go to their own directory only where nothing was compiled") {
  CacheBuilder cache = cache_with_module();
  const auto kernels = kernel(kBase32, 0, {"k.cubin"}) + kernel(kOther, 1, {"k.cubin"});
  const OnHit launched = hit(cache, bundled(k2_15, kernels, autotuner()), in_store());
  CHECK(launched.triton.at(1).path == "triton/1/" + std::string(kOther));
  CHECK(launched.files_known);
  const OnHit compiled = hit(cache, bundled(k2_6, kernels), in_store());
  CHECK(compiled.triton.at(0).path == "triton/0/" + std::string(kBase32));
  CHECK(compiled.triton.at(1).path.empty());
  CHECK_FALSE(compiled.triton.at(1).shadowed);
  CHECK_FALSE(compiled.files_known);
  CHECK(compiled.counters == Pairs{{"fxgraph_cache_hit", 1}});
}

TEST_CASE("an entry that lies in no directory tells nothing about files") {
  CacheBuilder cache = cache_with_module();
  const OnHit result = hit(cache, bundled(k2_15, kernel(kBase32, 0, {"k.cubin"}), autotuner()), Hit{});
  CHECK_FALSE(result.files_known);
  CHECK(result.triton.at(0).path.empty());
  CHECK(result.triton.at(0).files == 1);
  CHECK(result.counters == Pairs{{"fxgraph_cache_hit", 1}});
}

TEST_SUITE_END();
