#include "verify/state_files.h"

#include <doctest/doctest.h>

#include "base/hash.h"
#include "torch/known_builds.h"
#include "unit/torch/pickle_text.h"
#include "unit/verify/own_lines.h"
#include "verify/best_config_file.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/state_files");

namespace {

verify::Result one_file(const std::string& path, const std::string& bytes,
                        verify::Depth depth = verify::Depth::kDefault) {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/" + path, bytes);
  verify::Options options;
  options.depth = depth;
  return own_result(fs, options);
}

Lines ids(const std::string& path, const std::string& bytes, verify::Depth depth = verify::Depth::kDefault) {
  return ids_of(one_file(path, bytes, depth));
}

const std::string kModule = store_tests::hash_name('c', 'm');
const std::string kGood =
    R"({"XBLOCK": 32, "num_warps": 2, "num_stages": 1, "configs_hash": "b14a", "found_by_coordesc": false})";

/// The result of a module, as the torch of that build names it; up to 2.7 for "".
Lines best_config(const std::string& version, const std::string& bytes) {
  std::string name = to_hex(sha256(kModule + ".py:"));
  for (const torch::KnownBuild& build : torch::known_builds())
    if (build.version == version) name = to_hex(sha256(name + from_hex(build.torch_key)));
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/" + store_tests::shard_file(kModule, "py"), "x");
  fs.add_file("/cache/" + kModule.substr(1, 2) + "/" + name + ".best_config", bytes);
  Lines lines = own_ids(fs);
  std::erase(lines, "error module.name");
  return lines;
}

}  // namespace

TEST_CASE("an autotune result under its kernel's name") {
  for (const char* version : {"", "2.9.1+cu128", "2.15.0+cu132"})
    CHECK(best_config(version, kGood) == Lines{});
  const std::string path = kModule.substr(1, 2) + "/" + std::string(64, 'a') + ".best_config";
  const verify::Result result = one_file(path, kGood);
  CHECK(ids_of(result) == Lines{});
  CHECK(not_checkable(result, verify::checks::kBestConfigName) == 1);
}

TEST_CASE("a damaged autotune result raises up to 2.12 and costs time since 2.13") {
  for (const std::string& bytes : {std::string(), kGood.substr(0, 20), kGood + kGood, std::string("\xff")}) {
    CAPTURE(bytes);
    CHECK(best_config("", bytes).at(0).starts_with("error file."));
    CHECK(best_config("2.9.1+cu128", bytes).at(0).starts_with("error file."));
    CHECK(best_config("2.13.0+cu130", bytes).at(0).starts_with("warning file."));
    CHECK(best_config("2.15.0+cu132", bytes).at(0).starts_with("warning file."));
    CHECK(best_config("2.15.0+cu132", bytes).size() == 1);
  }
  CHECK(best_config("2.9.1+cu128", kGood + kGood) == Lines{"error file.trailing"});
  CHECK(best_config("2.9.1+cu128", kGood.substr(0, 20)) == Lines{"error file.truncated"});
}

TEST_CASE("JSON of another form") {
  for (const char* text : {"[]", "3", R"({"configs_hash": "x", "num_warps": 2.5, "num_stages": 1})",
                           R"({"configs_hash": "x", "num_warps": 2, "num_stages": 1, "XBLOCK": Infinity})"}) {
    CAPTURE(text);
    CHECK(best_config("2.15.0+cu132", text) == Lines{"error file.shape"});
  }
  // No release gets past the comparison of "configs_hash".
  for (const char* text : {"{}", R"({"configs_hash": 3})", R"({"num_warps": 2, "num_stages": 1})"}) {
    CAPTURE(text);
    for (const char* version : {"", "2.9.1+cu128", "2.15.0+cu132"})
      CHECK(best_config(version, text) == Lines{"warning file.shape"});
  }
}

TEST_CASE("profile state is a pickled dict") {
  using namespace pickle_text;
  const std::string path = "dynamo/code_state_job_0_.pkl";
  const std::string good = pickle_text::pickle(
      call(global("collections", "defaultdict"), global("torch._dynamo.pgo", "CodeState")));
  CHECK(ids(path, good) == Lines{});
  CHECK(ids(path, pickle_text::pickle(list())) == Lines{"warning pickle.root-type"});
  CHECK(ids(path, good.substr(0, good.size() - 1)) == Lines{"warning pickle.truncated"});
  CHECK(ids(path, "") == Lines{"warning pickle.truncated"});
  CHECK(ids(path, good + "x") == Lines{"warning pickle.trailing-bytes"});
  CHECK(ids(path, "\x80\x04\xff.") == Lines{"warning pickle.malformed"});
  CHECK(ids(path, good + "x", verify::Depth::kQuick) == Lines{"warning pickle.truncated"});
}

TEST_CASE("a precompiled function") {
  using namespace pickle_text;
  const std::string path = "dynamo/" + std::string(64, 'a') + "/entry";
  CHECK(ids(path, pickle_text::pickle(instance("torch._dynamo.precompile_context", "PrecompileCacheEntry",
                                               dict()))) == Lines{});
  CHECK(ids(path, pickle_text::pickle(dict())) == Lines{"warning pickle.root-type"});
}

TEST_CASE("a measured time is one number, or two") {
  const std::string path = store_tests::shard_file(kModule, "kernel_perf");
  for (const char* text : {"4.01678466796875", "-0.2 1e-05", "inf", " 3\n"})
    CHECK(ids(path, text) == Lines{});
  for (const char* text : {"", "x", "1 2 3", "4.0x", "None"})
    CHECK(ids(path, text) == Lines{"error kernel-perf.number"});
}

TEST_SUITE_END();
