#include "verify/packed_files.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "torch/known_builds.h"
#include "unit/verify/frame_maker.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace verify_tests;
using frame_tests::Group;

TEST_SUITE_BEGIN("verify/packed_files");

namespace {

std::string data_file(const std::string& name) {
  std::ifstream file(std::string(CACHETOOL_TEST_DATA) + "/entries/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const std::string kGraphKey = store_tests::hash_name('f', 'g');
const std::string kAotKey = store_tests::hash_name('a', 'g');
const std::string kConfig = "ab/" + std::string(64, '0') + ".best_config";

std::string known_torch_key() {
  return from_hex(torch::known_builds().back().torch_key);
}

/// Verifies a file that lies by itself: "severity id part-of-path-behind-the-file".
Lines verify_file(const std::string& bytes) {
  MemoryFileSystem fs;
  fs.add_file("/here/file.bin", bytes);
  Lines lines = verify_lines(fs, "/here/file.bin");
  for (std::string& line : lines) {
    const std::size_t at = line.find("file.bin");
    REQUIRE(at != std::string::npos);
    line.erase(at, 8);
  }
  return lines;
}

std::string one_group(const std::string& type, const std::string& key, const std::string& content) {
  return frame_tests::mega_cache({{type, {{key, content}}}});
}

}  // namespace

TEST_CASE("a mega-cache that was cut or altered anywhere is one finding") {
  const std::string good = one_group("autotune", kConfig, R"({"XBLOCK": 1})");
  CHECK(verify_file(good).empty());
  for (std::size_t length = 24; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK(verify_file(good.substr(0, length)) == Lines{"warning frame.damaged "});
  }
  std::string flipped = good;
  flipped[good.size() - 3] ^= 1;
  CHECK(verify_file(flipped) == Lines{"warning frame.damaged "});
  CHECK(verify_file(good + "x") == Lines{"warning frame.damaged "});
}

TEST_CASE("types and groups") {
  CHECK(verify_file(one_group("megalith", "k", "v")) == Lines{"warning mega-cache.type "});
  const Group autotune{"autotune", {{kConfig, "{}"}}};
  CHECK(verify_file(frame_tests::mega_cache({autotune, autotune})) == Lines{"info mega-cache.replaced "});
  CHECK(verify_file(frame_tests::mega_cache({})).empty());
}

TEST_CASE("items: keys, and contents as in files of their own") {
  CHECK(verify_file(one_group("autotune", "../" + kConfig, "{}")) ==
        Lines{"warning packed.key !autotune/../" + kConfig});
  CHECK(verify_file(one_group("autotune", kConfig, "{")) == Lines{"error file.json !autotune/" + kConfig});
  const Lines lines = verify_file(one_group("inductor", kGraphKey, "no pickle"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("pickle.") != std::string::npos);
  CHECK(lines[0].ends_with("!inductor/" + kGraphKey));
}

TEST_CASE("an AOTAutograd entry needs its graph in the same file") {
  const std::string entry = data_file("aotautograd-2.9.1-dynamic.pkl");
  REQUIRE(!entry.empty());
  const Lines lines = verify_file(one_group("aot_autograd", kAotKey, entry));
  REQUIRE(!lines.empty());
  for (const std::string& line : lines)
    CHECK(line == "warning packed.graph-missing !aot_autograd/" + kAotKey);
  CHECK(verify_file(one_group("aot_autograd", "x", data_file("aotautograd-2.9.1-bundled.pkl"))) ==
        Lines{"warning packed.key !aot_autograd/x"});
  CHECK(verify_file(one_group("aot_autograd", kAotKey, data_file("aotautograd-2.9.1-bundled.pkl"))).empty());
}

TEST_CASE("a standalone artifact holds the entry that it names") {
  const std::string bundled = data_file("aotautograd-2.9.1-bundled.pkl");
  const std::string mega = one_group("aot_autograd", kAotKey, bundled);
  CHECK(verify_file(frame_tests::standalone(known_torch_key(), kAotKey, mega)).empty());
  CHECK(verify_file(frame_tests::standalone(known_torch_key(), store_tests::hash_name('a', 'o'), mega)) ==
        Lines{"error standalone.key "});
  CHECK(verify_file(frame_tests::standalone(std::string(32, 'x'), kAotKey, mega)) ==
        Lines{"info standalone.torch-key "});
  std::string altered = mega;
  altered.back() ^= 1;
  CHECK(verify_file(frame_tests::standalone(known_torch_key(), kAotKey, altered)) ==
        Lines{"error frame.damaged "});
  CHECK(verify_file(frame_tests::standalone(known_torch_key(), kAotKey, frame_tests::mega_cache({}))) ==
        Lines{"error standalone.key "});
}

TEST_SUITE_END();
