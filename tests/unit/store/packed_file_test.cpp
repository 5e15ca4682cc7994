#include "store/packed_file.h"

#include <doctest/doctest.h>

#include "container/frame.h"
#include "store/lookup.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

std::string be64(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j <= text.size() ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::string sized(std::string_view bytes) {
  return be64(bytes.size()) + std::string(bytes);
}

std::string frame(const std::string& body) {
  const std::uint32_t crc = container::crc32(body);
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(crc >> shift & 0xff);
  return bytes + body;
}

const std::string kFx = hash_name('f', 'k');
const std::string kAot = hash_name('a', 'k');

std::string mega_cache() {
  return frame(be64(1) + sized(base64("inductor")) + be64(2) + sized(base64(kFx)) + sized("graph one") +
               sized(base64(hash_name('f', 'q'))) + sized("graph two") + sized(base64("pgo")) + be64(1) +
               sized(base64("job")) + sized("profile") + sized(base64("aot_autograd")) + be64(1) +
               sized(base64(kAot)) + sized("joint"));
}

std::string standalone() {
  return frame(sized(repeated('k', 32)) + sized(base64(kAot)) + sized(mega_cache()));
}

}  // namespace

TEST_SUITE("store/packed_file") {
  TEST_CASE("entries of a mega-cache point at their bytes") {
    const std::string file = mega_cache();
    const auto entries = packed_entries(file, ArtifactKind::kMegaCache);
    REQUIRE(entries);
    REQUIRE(entries->size() == 3);
    CHECK(entries->at(0).key.str() == kFx);
    CHECK(file.substr(entries->at(0).offset, entries->at(0).length) == "graph one");
    CHECK(entries->at(0).leaf == torch::content_hash("graph one"));
    CHECK(entries->at(2).kind == torch::EntryKind::kAotAutograd);
    CHECK(file.substr(entries->at(2).offset, entries->at(2).length) == "joint");
  }

  TEST_CASE("offsets of a standalone artifact count from its own start") {
    const std::string file = standalone();
    const auto entries = packed_entries(file, ArtifactKind::kStandaloneArtifact);
    REQUIRE(entries);
    REQUIRE(entries->size() == 3);
    CHECK(file.substr(entries->at(1).offset, entries->at(1).length) == "graph two");
  }

  TEST_CASE("every cut and every damaged byte is an error") {
    const std::string file = standalone();
    for (std::size_t length = 0; length < file.size(); ++length) {
      CHECK_FALSE(
          packed_entries(std::string_view(file).substr(0, length), ArtifactKind::kStandaloneArtifact));
    }
    for (std::size_t i = 0; i < file.size(); ++i) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ 4);
      CHECK_FALSE(packed_entries(damaged, ArtifactKind::kStandaloneArtifact));
    }
  }

  TEST_CASE("a file that packs entries is a cache of them") {
    MemoryFileSystem fs;
    fs.add_file("/loose/mega.bin", mega_cache());
    const auto source = open_source(fs, "/loose/mega.bin");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    CHECK(source->keys(skipped).size() == 3);
    CHECK(skipped.empty());
    const auto found = lookup(*source, kFx);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(entry_path(source->cache(), found->at(0)) == "mega.bin!inductor/" + kFx);
    std::string buffer;
    const auto stat = source->read_entry(found->at(0), 100, buffer);
    REQUIRE(stat);
    CHECK(buffer == "graph one");
    CHECK(stat->size == 9);
    CHECK(source->read_entry(found->at(0), 5, buffer).error().code == ErrorCode::kLimitSize);
    CHECK(lookup(*source, "ak")->size() == 1);
    fs.add_file("/loose/mega.bin", "short");
    CHECK(source->read_entry(found->at(0), 100, buffer).error().code == ErrorCode::kTruncated);
  }

  TEST_CASE("vLLM's binary artifacts are stores; a damaged one is noted, the others are read") {
    MemoryFileSystem fs;
    const std::string prefix = "/v/torch_compile_cache/0123456789/rank_0_0/backbone/";
    fs.add_file(prefix + "vllm_compile_cache.py", "{}");
    fs.add_file(prefix + "artifact_compile_range_1_8_subgraph_0", standalone());
    fs.add_file(prefix + "artifact_compile_range_1_8_subgraph_1", standalone().substr(0, 100));
    const auto source = open_source(fs, "/v");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    CHECK(source->keys(skipped).size() == 3);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].path.ends_with("_subgraph_1"));
  }
}
