#include "store/triton_home.h"

#include <doctest/doctest.h>

#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;

namespace {

std::string home(Source& source, std::uint16_t store, std::int64_t device) {
  const auto found = triton_home(source, store, device);
  if (!found) return "unknown";
  return (found->root ? std::to_string(*found->root) + ":" : "outside:") + found->path;
}

std::unique_ptr<Source> open_with(FileSystem& fs, const std::string& triton) {
  Environment environment = store_tests::plain_environment();
  environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/cache";
  if (!triton.empty()) environment.variables["TRITON_CACHE_DIR"] = triton;
  auto set = resolve_cache(fs, environment, std::nullopt);
  REQUIRE(set);
  return make_directory_source(fs, std::move(*set));
}

}  // namespace

TEST_SUITE_BEGIN("store/triton_home");

TEST_CASE("a directory per device in the cache, fresh caches one for all") {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_dir("/cache/tmpabcd1234/fxgraph");
  const auto source = store_tests::open_source(fs, "/cache");
  REQUIRE(source->cache().stores.size() == 2);
  CHECK(home(*source, 0, 3) == "0:triton/3");
  CHECK(home(*source, 1, 3) == "0:tmpabcd1234/triton");
}

TEST_CASE("TRITON_CACHE_DIR, wherever it leads") {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/kernels/" + std::string(52, 'A') + "/k.json", "{}");
  CHECK(home(*open_with(fs, ""), 0, 1) == "0:triton/1");
  CHECK(home(*open_with(fs, "/kernels"), 0, 1) == "1:");
  CHECK(home(*open_with(fs, "/cache/own"), 0, 1) == "0:own");
  CHECK(home(*open_with(fs, "/not/there"), 0, 1) == "outside:/not/there");
}

TEST_CASE("a cache that an argument names has its own") {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  Environment environment = store_tests::plain_environment();
  environment.variables["TRITON_CACHE_DIR"] = "/kernels";
  auto set = resolve_cache(fs, environment, "/cache");
  REQUIRE(set);
  CHECK(home(*make_directory_source(fs, std::move(*set)), 0, 1) == "0:triton/1");
}

TEST_CASE("vLLM keeps Triton's directories beside") {
  MemoryFileSystem fs;
  const std::string prefix = "/vllm/torch_compile_cache/0123456789/rank_0_0/backbone";
  fs.add_dir(prefix + "/inductor_cache/fxgraph");
  {
    const auto source = store_tests::open_source(fs, "/vllm");
    REQUIRE(source->cache().stores.size() == 1);
    CHECK(home(*source, 0, 0) == "unknown");
  }
  fs.add_dir(prefix + "/triton_cache");
  const auto source = store_tests::open_source(fs, "/vllm");
  CHECK(home(*source, 0, 0) == "0:torch_compile_cache/0123456789/rank_0_0/backbone/triton_cache");
  // Its neighbour is outside of what was named.
  const auto inner = store_tests::open_source(fs, prefix + "/inductor_cache");
  REQUIRE(inner->cache().roots[0].path == prefix + "/inductor_cache");
  CHECK(home(*inner, 0, 0) == "unknown");
}

TEST_SUITE_END();
