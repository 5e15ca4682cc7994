#include "verify/side_files.h"

#include <doctest/doctest.h>

#include "base/hash.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/side_files");

namespace {

Lines verify_file(const std::string& place, const std::string& bytes) {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/" + place, bytes);
  return verify_lines(fs, "/cache");
}

// {"device": {"name": "G\u00e9PU"}, "version": {"cuda": "12.1"}} as Python's json.dumps with sorted keys.
const std::string kSystem = R"({"device": {"name": "G\u00e9PU"}, "version": {"cuda": "12.1"}})";
const std::string kHash = to_hex(sha256(kSystem));

std::string measured(const std::string& hash, const std::string& device) {
  return "{\n    \"system\": {\"version\": {\"cuda\": \"12.1\"}, \"hash\": \"" + hash +
         "\", \"device\": {\"name\": \"" + device + "\"}},\n    \"cache\": {\"mm\": {\"x\": Infinity}}\n}";
}

}  // namespace

TEST_CASE("measured times are named after their system") {
  CHECK(verify_file("cache/" + kHash, measured(kHash, "G\xc3\xa9PU")).empty());
  CHECK(verify_file("cache/" + kHash, measured(kHash, "other")) ==
        Lines{"warning benchmark-cache.name cache/" + kHash});
  const std::string other(64, 'a');
  CHECK(verify_file("cache/" + other, measured(kHash, "G\xc3\xa9PU")) ==
        Lines{"warning benchmark-cache.name cache/" + other});
  const std::string empty = to_hex(sha256("{}"));
  CHECK(verify_file("cache/" + empty, R"({"system": {"hash": ")" + empty + R"("}, "cache": {}})").empty());
}

TEST_CASE("damaged times make torch raise") {
  const std::string good = measured(kHash, "G\xc3\xa9PU");
  CHECK(verify_file("cache/" + kHash, good.substr(0, good.size() / 2)) ==
        Lines{"error file.truncated cache/" + kHash});
  CHECK(verify_file("cache/" + kHash, R"({"system": {}})") == Lines{"error file.shape cache/" + kHash});
}

TEST_CASE("the memoizer's dump is forgotten when it is damaged") {
  CHECK(verify_file("memoizer_cache.json", R"({"a": 1})").empty());
  CHECK(verify_file("memoizer_cache.json", R"({"a": 1)") ==
        Lines{"warning file.truncated memoizer_cache.json"});
  CHECK(verify_file("memoizer_cache.json", "[]") == Lines{"warning file.shape memoizer_cache.json"});
}

TEST_CASE("a failed build is remembered") {
  const std::string stem = store_tests::hash_name('c', 'k');
  const std::string place = stem.substr(1, 2) + "/" + stem + ".so.error";
  CHECK(verify_file(place, R"([["nvcc"], "no"])") == Lines{"info library.build-failed " + place});
  CHECK(verify_file(place, "{}") == Lines{"warning file.shape " + place});
}

TEST_CASE("unknown files are one finding for each directory") {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/notes", "");
  fs.add_file("/cache/other", "");
  fs.add_file("/cache/dynamo/stray", "");
  CHECK(verify_lines(fs, "/cache") == Lines{"info file.unknown dynamo/stray", "info file.unknown notes"});
}

TEST_SUITE_END();
