#include "store/cache_set.h"

#include <doctest/doctest.h>

#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

const std::string kKey = hash_name('f', 'k');
const std::string kModule = hash_name('c', 'm');

/// A small cache at /cache and things around it.
void fill(MemoryFileSystem& fs) {
  fs.add_file("/cache/" + fx_directory(kKey) + "/" + leaf_name('x'), "entry");
  fs.add_file("/cache/" + shard_file(kModule, "py"), "# AOT ID");
  fs.add_file("/cache/locks/" + hash_name('c', 'z') + ".lock", "");
  fs.add_file("/cache/triton/0/" + repeated('A', 52) + "/add.cubin", "x");
  fs.add_file("/documents/letter.txt", "hello");
  fs.add_dir("/empty");
}

Expected<CacheSet> resolve(FileSystem& fs, std::string_view path) {
  return resolve_cache(fs, plain_environment(), path);
}

}  // namespace

TEST_SUITE("store/cache_set") {
  TEST_CASE("a directory is recognised by what is in it") {
    MemoryFileSystem fs;
    fill(fs);
    fs.add_file("/only_modules/" + shard_file(kModule, "py"), "");
    fs.add_file("/t/" + repeated('Q', 52) + "/add.json", "{}");
    fs.add_file("/dot_triton/cache/" + repeated('Q', 52) + "/add.json", "{}");
    fs.add_file("/v/torch_compile_cache/0123456789/rank_0_0/backbone/vllm_compile_cache.py", "{}");
    const std::pair<const char*, RootRole> cases[] = {
        {"/cache", RootRole::kInductor},
        {"/only_modules", RootRole::kInductor},
        {"/t", RootRole::kTriton},
        {"/dot_triton", RootRole::kTriton},
        {"/v", RootRole::kVllm},
        {"/v/torch_compile_cache", RootRole::kVllm},
        {"/v/torch_compile_cache/0123456789", RootRole::kVllm},
        {"/v/torch_compile_cache/0123456789/rank_0_0/backbone", RootRole::kVllm}};
    for (const auto& [path, role] : cases) {
      CAPTURE(path);
      const auto set = resolve(fs, path);
      REQUIRE(set);
      CHECK(set->roots[0].role == role);
      CHECK(set->roots[0].path == path);
      CHECK(set->scope.empty());
    }
  }

  TEST_CASE("what is no cache says so, and an empty directory is an empty cache") {
    MemoryFileSystem fs;
    fill(fs);
    fs.add_file("/project/ab/main.py", "");
    fs.add_file("/project/locks/door.lock", "");
    CHECK(resolve(fs, "/documents").error().code == ErrorCode::kNotACache);
    CHECK(resolve(fs, "/project").error().code == ErrorCode::kNotACache);
    CHECK_FALSE(resolve(fs, "/documents").error().hint.empty());
    CHECK(resolve(fs, "/documents/letter.txt").error().code == ErrorCode::kNotACache);
    CHECK(resolve(fs, "/nowhere").error().code == ErrorCode::kNotFound);
    CHECK(resolve(fs, "").error().code == ErrorCode::kNotFound);
    const auto empty = resolve(fs, "/empty");
    REQUIRE(empty);
    CHECK(empty->stores.size() == 1);
  }

  TEST_CASE("a place inside a cache gives the cache with a scope") {
    MemoryFileSystem fs;
    fill(fs);
    const std::string entry = fx_directory(kKey) + "/" + leaf_name('x');
    const std::string places[] = {"fxgraph", "fxgraph/kk", fx_directory(kKey), "mm", "locks", "triton"};
    for (const std::string& place : places) {
      CAPTURE(place);
      const auto set = resolve(fs, "/cache/" + place + "/");
      REQUIRE(set);
      CHECK(set->roots[0].path == "/cache");
      CHECK(set->scope == place);
      CHECK_FALSE(set->scope_is_file);
    }
    const auto file = resolve(fs, "/cache/" + entry);
    REQUIRE(file);
    CHECK(file->scope == entry);
    CHECK(file->scope_is_file);
    // Somebody's own directory beside the cache's is not part of it.
    fs.add_file("/cache/papers/draft.txt", "");
    CHECK(resolve(fs, "/cache/papers").error().code == ErrorCode::kNotACache);
  }

  TEST_CASE("a Triton directory inside an Inductor cache belongs to that cache") {
    MemoryFileSystem fs;
    fill(fs);
    const std::string directory = "triton/0/" + repeated('A', 52);
    for (const std::string& place : {std::string("triton/0"), directory, directory + "/add.cubin"}) {
      CAPTURE(place);
      const auto set = resolve(fs, "/cache/" + place);
      REQUIRE(set);
      CHECK(set->roots[0].role == RootRole::kInductor);
      CHECK(set->scope == place);
    }
  }

  TEST_CASE("a single file outside any cache is known by its content") {
    MemoryFileSystem fs;
    fs.add_file("/loose/some.bin", "\x80\x04 torch._inductor.output_code CompiledFxGraph");
    const auto set = resolve(fs, "/loose/some.bin");
    REQUIRE(set);
    CHECK(set->roots[0].role == RootRole::kSingleFile);
    CHECK(set->single_file_kind == ArtifactKind::kFxGraphEntry);
    CHECK(set->scope == "some.bin");
  }

  TEST_CASE("without a path: the variable, else the default of the user") {
    MemoryFileSystem fs;
    fs.add_dir("/tmp");
    fs.change_stat("/tmp", [](FileStat& stat) { stat.mode = 01777; });
    Environment environment = plain_environment();
    const auto missing = resolve_cache(fs, environment, std::nullopt);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == ErrorCode::kNotFound);
    CHECK(missing.error().path == "/tmp/torchinductor_ada");
    fs.add_file("/tmp/torchinductor_ada/" + shard_file(kModule, "py"), "");
    fs.add_file("/tmp/torchinductor_ada/precompiled_headers/" + kModule + ".h", "");
    const auto fallback = resolve_cache(fs, environment, std::nullopt);
    REQUIRE(fallback);
    CHECK(fallback->origin == CacheOrigin::kDefault);
    CHECK(fallback->roots.size() == 1);

    fs.add_file("/here/mine/" + shard_file(kModule, "py"), "");
    fs.add_file("/elsewhere/" + repeated('A', 52) + "/add.json", "{}");
    environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "mine";
    environment.variables["TRITON_CACHE_DIR"] = "/elsewhere";
    const auto custom = resolve_cache(fs, environment, std::nullopt);
    REQUIRE(custom);
    CHECK(custom->origin == CacheOrigin::kEnvironment);
    CHECK(custom->roots[0].path == "/here/mine");
    REQUIRE(custom->roots.size() == 3);
    CHECK(custom->roots[1].role == RootRole::kTriton);
    CHECK(custom->roots[2].role == RootRole::kPrecompiledHeaders);
    CHECK(custom->roots[2].companion);

    // What holds no Triton kernels is no part of the cache, whatever the variable says.
    environment.variables["TRITON_CACHE_DIR"] = "/here";
    const auto mistaken = resolve_cache(fs, environment, std::nullopt);
    REQUIRE(mistaken);
    REQUIRE(mistaken->roots.size() == 2);
    CHECK(mistaken->roots[1].role == RootRole::kPrecompiledHeaders);
  }

  TEST_CASE("entries are looked for in nested roots too") {
    MemoryFileSystem fs;
    const std::string rank = "/v/torch_compile_cache/0123456789/rank_0_0/";
    fs.add_file(rank + "inductor_cache/" + fx_directory(kKey) + "/" + leaf_name('x'), "");
    fs.add_file(rank + "backbone/artifact_shape_8_subgraph_0/" + fx_directory(kKey) + "/" + leaf_name('x'),
                "");
    fs.add_file(rank + "backbone/artifact_shape_8_subgraph_1", "");
    const auto set = resolve(fs, "/v");
    REQUIRE(set);
    REQUIRE(set->stores.size() == 3);
    const std::string below = "torch_compile_cache/0123456789/rank_0_0/";
    CHECK(set->stores[0].path == below + "backbone/artifact_shape_8_subgraph_0");
    CHECK_FALSE(set->stores[0].is_file());
    CHECK(set->stores[1].path == below + "backbone/artifact_shape_8_subgraph_1");
    CHECK(set->stores[1].is_file());
    CHECK(set->stores[2].path == below + "inductor_cache");
  }

  TEST_CASE("paths of a user are located below the roots") {
    MemoryFileSystem fs;
    fill(fs);
    const auto set = resolve(fs, "/cache");
    REQUIRE(set);
    const auto found = locate(*set, plain_environment(), "../cache/mm/x.py");
    REQUIRE(found);
    CHECK(found->path == "mm/x.py");
    CHECK(full_path(*set, found->root, found->path) == "/cache/mm/x.py");
    CHECK(locate(*set, plain_environment(), "/cache")->path.empty());
    CHECK_FALSE(locate(*set, plain_environment(), "/cached/mm"));
  }

  TEST_CASE("a root that may not be listed is an error of its own") {
    MemoryFileSystem fs;
    fill(fs);
    fs.set_error("/cache", ErrorCode::kPermission);
    const auto set = resolve(fs, "/cache");
    REQUIRE_FALSE(set);
    CHECK(set.error().code == ErrorCode::kPermission);
  }
}
