#include "store/classify.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

std::string kind_of(RootRole role, const std::string& path) {
  return std::string(kind_name(classify(role, path).kind));
}
std::string inductor(const std::string& path) {
  return kind_of(RootRole::kInductor, path);
}

std::string big_endian(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

}  // namespace

TEST_SUITE("store/classify") {
  TEST_CASE("every kind has a name of its own that reads back") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < kArtifactKindCount; ++i) {
      const auto kind = static_cast<ArtifactKind>(i);
      CHECK(names.insert(kind_name(kind)).second);
      CHECK(parse_kind(kind_name(kind)) == kind);
      CHECK_FALSE(kind_title(kind).empty());
    }
    CHECK_FALSE(parse_kind("nonsense"));
  }

  TEST_CASE("entries need their key, their shard and their depth") {
    const std::string fx = hash_name('f', 'k');
    const std::string aot = hash_name('a', 'k');
    const Classified entry = classify(RootRole::kInductor, fx_directory(fx) + "/" + leaf_name('x'));
    CHECK(entry.kind == ArtifactKind::kFxGraphEntry);
    REQUIRE(entry.hash);
    CHECK(entry.hash->str() == leaf_name('x'));
    CHECK(inductor(fx_directory(fx) + "/odd name") == "fxgraph");
    CHECK_FALSE(classify(RootRole::kInductor, fx_directory(fx) + "/odd name").hash);
    CHECK(inductor("fxgraph/zz/" + fx + "/" + leaf_name('x')) == "unknown");
    CHECK(inductor("fxgraph/kk/" + aot + "/" + leaf_name('x')) == "unknown");
    CHECK(inductor("fxgraph/kk/" + leaf_name('x')) == "unknown");
    CHECK(inductor(fx_directory(fx) + "/deeper/" + leaf_name('x')) == "unknown");
    CHECK(inductor("aotautograd/" + aot + "/entry") == "aotautograd");
    CHECK(inductor("aotautograd/" + aot + "/" + leaf_name('y')) == "aotautograd");
    CHECK(inductor("aotautograd/" + fx + "/entry") == "unknown");
  }

  TEST_CASE("files of a shard are told apart by what follows the stem") {
    const std::string stem = hash_name('c', 'q');
    const std::pair<const char*, const char*> suffixes[] = {{"py", "module"},
                                                            {"cpp", "cpp-source"},
                                                            {"main.cpp", "cpp-source"},
                                                            {"main.so", "shared-object"},
                                                            {"so", "shared-object"},
                                                            {"so.load_ok", "load-marker"},
                                                            {"h", "header"},
                                                            {"h.gch", "precompiled-header"},
                                                            {"optimized.cpp", "optimized-source"},
                                                            {"optimized.o", "object"},
                                                            {"main.o", "object"},
                                                            {"cubin", "gpu-binary"},
                                                            {"hsaco", "gpu-binary"},
                                                            {"kernel_perf", "kernel-perf"},
                                                            {"cu", "cutlass"},
                                                            {"so.error", "build-error"},
                                                            {"nonsense", "unknown"}};
    for (const auto& [suffix, kind] : suffixes) CHECK(inductor(shard_file(stem, suffix)) == kind);
    CHECK(inductor("qq/" + repeated('0', 64) + ".best_config") == "best-config");
    CHECK(inductor("qq/" + repeated('0', 63) + ".best_config") == "unknown");
    CHECK(inductor(shard_file(hash_name('c', 'q'), "best_config")) == "best-config");
    CHECK(inductor("triton/0/" + repeated('0', 64) + "/k.cubin") == "triton-binary");
    CHECK(inductor("qq/" + stem + "_CxxBuild/x.o") == "build-scratch");
    CHECK(inductor("qq/" + stem + ".halide/done") == "halide");
    CHECK(inductor("qq/" + stem + ".debug/fx.txt") == "debug");
    CHECK(inductor("qq/readme.txt") == "unknown");
  }

  TEST_CASE("other places of an Inductor root") {
    const std::string stem = hash_name('c', 'q');
    CHECK(inductor("locks/" + stem + ".lock") == "lock");
    CHECK(inductor("cache/" + repeated('a', 64)) == "benchmark-cache");
    CHECK(inductor("dynamo/code_state_job_None_.pkl") == "pgo");
    CHECK(inductor("dynamo/code_state_job_None_.pkl.lock") == "lock");
    CHECK(inductor("dynamo/" + repeated('a', 64) + "/entry") == "precompile");
    CHECK(inductor("precompiled_headers/" + stem + ".h.gch") == "precompiled-header");
    CHECK(inductor("aoti_eager/ns/cpu/add.json") == "eager-aoti");
    CHECK(inductor("cutedsl_compile_cache/" + repeated('a', 64) + ".o") == "cutedsl");
    CHECK(inductor("autoheuristic/gpu/x.json") == "autoheuristic");
    CHECK(inductor("memoizer_cache.json") == "memoizer");
    CHECK(inductor("memoizer_cache.lock") == "lock");
    CHECK(inductor(stem + "/" + stem + ".wrapper.cpp") == "aoti-file");
    CHECK(inductor(".cachetool/journal") == "own-state");
    CHECK(inductor("notes.txt") == "unknown");
    CHECK(inductor("tmpk4_e4irm/" + shard_file(stem, "py")) == "module");
    CHECK(inductor("tmpk4_e4irm/fxgraph/x") == "unknown");
  }

  TEST_CASE("unfinished writes, wherever they are") {
    const std::string fx = hash_name('f', 'k');
    CHECK(inductor(fx_directory(fx) + "/.123.140234.tmp") == "temporary");
    CHECK(inductor("dynamo/code_state_x.pkl.tmp") == "temporary");
    CHECK(inductor("kk/.cachetool.abcdef.tmp") == "temporary");
    CHECK(inductor("triton/0/tmp.0b9f/x.cubin") == "temporary");
    CHECK(kind_of(RootRole::kTriton, repeated('A', 52) + "/tmp.pid_1_ab/add.ptx") == "temporary");
    CHECK(kind_of(RootRole::kVllm, "torch_compile_cache/torch_aot_compile/" + repeated('a', 64) +
                                       "/rank_0_0/model.77.tmp") == "temporary");
    CHECK(kind_of(RootRole::kVllm, "torch_compile_cache/torch_aot_compile/" + repeated('a', 64) +
                                       "/rank_0_0/tmpabcd1234") == "temporary");
  }

  TEST_CASE("Triton directories by both spellings of the key") {
    for (const std::string& directory :
         {repeated('A', 52), std::string("B0iubWYNhgnNSLkfHTkfbOkCXSyMq-LUzTpi4il0LTg")}) {
      const auto at = [&](const std::string& file) {
        return kind_of(RootRole::kTriton, directory + "/" + file);
      };
      CHECK(at("__grp__add.json") == "triton-group");
      CHECK(at("add.json") == "triton-metadata");
      CHECK(at("add.autotune.json") == "triton-autotune");
      CHECK(at("add.ttgir") == "triton-ir");
      CHECK(at("add.source") == "triton-source");
      CHECK(at("add.cubin") == "triton-binary");
      CHECK(at("cuda_utils.cpython-311-x86_64-linux-gnu.so") == "triton-driver");
      CHECK(at("__triton_launcher.so") == "triton-launcher");
      CHECK(at("strange") == "triton-other");
      CHECK(inductor("triton/0/" + directory + "/add.cubin") == "triton-binary");
      CHECK(kind_of(RootRole::kVllm, "x/triton_cache/" + directory + "/add.cubin") == "triton-binary");
    }
    CHECK(kind_of(RootRole::kTriton, repeated('A', 51) + "/add.cubin") == "unknown");
  }

  TEST_CASE("vLLM's tree, from whatever level") {
    const std::string prefix = "torch_compile_cache/0123456789/rank_0_0/backbone/";
    const auto at = [](const std::string& path) { return kind_of(RootRole::kVllm, path); };
    CHECK(at(prefix + "vllm_compile_cache.py") == "vllm-index");
    CHECK(at("vllm_compile_cache.py") == "vllm-index");
    CHECK(at(prefix + "cache_key_factors.json") == "vllm-factors");
    CHECK(at(prefix + "computation_graph.py") == "vllm-graph-text");
    CHECK(at(prefix + "artifact_compile_range_1_64_subgraph_0") == "standalone");
    CHECK(at(prefix + "artifact_shape_None_subgraph_0/" + shard_file(hash_name('c', 'q'), "py")) == "module");
    CHECK(at(prefix + "artifact_shape_None_subgraph_0/" + fx_directory(hash_name('f', 'k')) + "/" +
             leaf_name('b')) == "fxgraph");
    CHECK(at("torch_compile_cache/torch_aot_compile/" + repeated('a', 64) + "/rank_0_0/model") ==
          "vllm-model");
    CHECK(at("modelinfos/x.json") == "vllm-other");
    CHECK(at(prefix + "stray") == "unknown");
  }

  TEST_CASE("content tells what a name doesn't") {
    const auto kind = [](const std::string& head) {
      return std::string(kind_name(classify_content(head, head.size())));
    };
    CHECK(kind("\x80\x04 torch._inductor.output_code CompiledFxGraph") == "fxgraph");
    CHECK(
        kind(
            "\x80\x04 torch._functorch._aot_autograd.autograd_cache AOTAutogradCacheEntry CompiledFxGraph") ==
        "aotautograd");
    CHECK(kind("\x80\x04 something else") == "unknown");
    CHECK(kind("crc4" + big_endian(1) + big_endian(12) + "aW5kdWN0b3I=") == "mega-cache");
    CHECK(kind("crc4" + big_endian(1) + big_endian(1) + "a") == "unknown");
    CHECK(kind("crc4" + big_endian(21) + "CacheCompiledArtifact") == "standalone");
    CHECK(kind("crc4" + big_endian(19) + "AOTCompiledArtifact") == "standalone");
    CHECK(kind("crc4" + big_endian(32) + repeated('k', 32) + big_endian(72) + "YQ==") == "standalone");
    CHECK(kind("crc4" + big_endian(32) + repeated('k', 32) + big_endian(9)) == "unknown");
    CHECK(kind("PK\x03\x04 model/archive_format") == "aoti-package");
    CHECK(kind("PK\x03\x04 word/document.xml") == "unknown");
    CHECK(kind("{\"child_paths\": {}}") == "triton-group");
    CHECK(kind("{\"key\": [], \"configs_timings\": []}") == "triton-autotune");
    CHECK(kind("# AOT ID: ['0_inference']\n") == "module");
    CHECK(kind("") == "unknown");
    CHECK(kind("\x7f"
               "ELF") == "unknown");
    std::string elf(
        "\x7f"
        "ELF",
        4);
    elf.resize(64, '\0');
    elf[16] = 3;
    elf[18] = 62;
    CHECK(kind(elf) == "shared-object");
    elf[18] = static_cast<char>(190);
    CHECK(kind(elf) == "gpu-binary");
  }
}
