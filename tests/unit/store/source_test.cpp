#include "store/source.h"

#include <doctest/doctest.h>

#include <thread>

#include "base/fault_file_system.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;
using torch::EntryKind;

namespace {

const std::string kFx = hash_name('f', 'k');
const std::string kAot = hash_name('a', 'k');

void fill(MemoryFileSystem& fs) {
  fs.add_file("/cache/" + fx_directory(kFx) + "/" + leaf_name('y'), "second");
  fs.add_file("/cache/" + fx_directory(kFx) + "/" + leaf_name('x'), "first");
  fs.add_file("/cache/" + fx_directory(kFx) + "/.1.2.tmp", "half");
  fs.add_symlink("/cache/" + fx_directory(kFx) + "/link", "/etc/passwd");
  fs.add_file("/cache/aotautograd/" + kAot + "/entry", "aot");
}

}  // namespace

TEST_SUITE("store/source") {
  TEST_CASE("keys come sorted and only from where torch looks") {
    MemoryFileSystem fs;
    fill(fs);
    fs.add_file("/cache/fxgraph/zz/" + kFx + "/" + leaf_name('x'), "wrong shard");
    fs.add_file("/cache/fxgraph/kk/" + kAot + "/" + leaf_name('x'), "wrong letter");
    fs.add_file("/cache/fxgraph/kk/file", "");
    fs.add_file("/cache/aotautograd/" + kFx + "/" + leaf_name('x'), "wrong tree");
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    const auto keys = source->keys(skipped);
    REQUIRE(keys.size() == 2);
    CHECK(keys[0].kind == EntryKind::kFxGraph);
    CHECK(keys[0].key.str() == kFx);
    CHECK(keys[1].key.str() == kAot);
    CHECK(skipped.empty());
  }

  TEST_CASE("a key's candidates come in torch's order, without links and unfinished writes") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    std::vector<Skipped> skipped;
    const auto keys = source->keys(skipped);
    const auto listing = source->open_key(keys.at(0));
    REQUIRE(listing);
    REQUIRE(listing->entries.size() == 2);
    CHECK(listing->entries[0].leaf == leaf_name('x'));
    CHECK(listing->entries[1].leaf == leaf_name('y'));
    CHECK(listing->temporaries == std::vector<std::string>{".1.2.tmp"});
    REQUIRE(listing->skipped.size() == 1);
    CHECK(listing->skipped[0].error.code == ErrorCode::kNotRegular);
    std::string buffer;
    REQUIRE(source->read_entry(listing->entries[1], 100, buffer));
    CHECK(buffer == "second");
    CHECK(source->read_entry(listing->entries[1], 3, buffer).error().code == ErrorCode::kLimitSize);
  }

  TEST_CASE("keys and entries that went away say so") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    std::vector<Skipped> skipped;
    const auto keys = source->keys(skipped);
    const auto listing = source->open_key(keys.at(0));
    REQUIRE(listing);
    fs.remove("/cache/" + fx_directory(kFx) + "/" + leaf_name('x'));
    std::string buffer;
    const auto read = source->read_entry(listing->entries.at(0), 100, buffer);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kVanished);
    CHECK(read.error().path == fx_directory(kFx) + "/" + leaf_name('x'));
    fs.remove("/cache/" + fx_directory(kFx));
    CHECK(source->open_key(keys.at(0)).error().code == ErrorCode::kNoSuchKey);
  }

  TEST_CASE("a vLLM rank that may not be read is reported, not taken for empty") {
    MemoryFileSystem fs;
    const std::string hash = "/v/torch_compile_cache/0123456789";
    const std::string key = hash_name('f', 'k');
    for (const char* rank : {"/rank_0_0", "/rank_1_0"})
      fs.add_file(hash + rank + "/inductor_cache/" + fx_directory(key) + "/" + leaf_name('x'), "");
    fs.add_file(hash + "/rank_0_0/backbone/vllm_compile_cache.py", "{}");
    fs.set_error(hash + "/rank_1_0", ErrorCode::kPermission);
    const auto source = open_source(fs, "/v");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    CHECK(source->keys(skipped).size() == 1);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].path == "torch_compile_cache/0123456789/rank_1_0");
    CHECK(skipped[0].error.code == ErrorCode::kPermission);
  }

  TEST_CASE("trees that can't be listed are noted, the others are read") {
    MemoryFileSystem fs;
    fill(fs);
    fs.set_error("/cache/fxgraph/kk", ErrorCode::kPermission);
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    CHECK(source->keys(skipped).size() == 1);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].path == "fxgraph/kk");
    CHECK(skipped[0].error.code == ErrorCode::kPermission);
  }

  TEST_CASE("a scope limits keys and candidates, the whole is still at hand") {
    MemoryFileSystem fs;
    fill(fs);
    std::vector<Skipped> skipped;
    CHECK(open_source(fs, "/cache/aotautograd")->keys(skipped).size() == 1);
    CHECK(open_source(fs, "/cache/fxgraph/kk")->keys(skipped).size() == 1);
    const auto source = open_source(fs, "/cache/" + fx_directory(kFx) + "/" + leaf_name('x'));
    REQUIRE(source);
    const auto keys = source->keys(skipped);
    REQUIRE(keys.size() == 1);
    CHECK(source->open_key(keys[0])->entries.size() == 1);
    CHECK(source->whole().keys(skipped).size() == 2);
    CHECK(source->whole().open_key(keys[0])->entries.size() == 2);
  }

  TEST_CASE("one loose entry file is a cache of one") {
    MemoryFileSystem fs;
    fs.add_file("/loose/entry.bin", "\x80\x04 torch._inductor.output_code CompiledFxGraph");
    const auto source = open_source(fs, "/loose/entry.bin");
    REQUIRE(source);
    std::vector<Skipped> skipped;
    const auto keys = source->keys(skipped);
    REQUIRE(keys.size() == 1);
    const auto listing = source->open_key(keys[0]);
    REQUIRE(listing);
    REQUIRE(listing->entries.size() == 1);
    std::string buffer;
    CHECK(source->read_entry(listing->entries[0], 100, buffer));
    CHECK(buffer.starts_with("\x80\x04"));
  }

  TEST_CASE("files are read by their path below a root") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    std::string buffer;
    CHECK(source->read_file(0, "aotautograd/" + kAot + "/entry", 100, buffer));
    CHECK(buffer == "aot");
    CHECK(source->stat_file(0, "aotautograd/" + kAot + "/entry")->size == 3);
    CHECK(source->read_file(0, "aotautograd/../x", 100, buffer).error().code != ErrorCode::kNotFound);
    CHECK(source->read_file(0, "nothing", 100, buffer).error().code == ErrorCode::kNotFound);
    CHECK(source->read_file(0, fx_directory(kFx) + "/link", 100, buffer).error().code ==
          ErrorCode::kNotRegular);
  }

  TEST_CASE("several threads may open keys and read at once") {
    MemoryFileSystem fs;
    for (char c = 'a'; c <= 'z'; ++c) {
      fs.add_file("/cache/" + fx_directory(hash_name('f', c)) + "/" + leaf_name('x'), std::string(1, c));
    }
    const auto source = open_source(fs, "/cache");
    std::vector<Skipped> skipped;
    const auto keys = source->keys(skipped);
    REQUIRE(keys.size() == 26);
    std::vector<std::thread> threads;
    std::vector<std::size_t> read(4, 0);
    for (std::size_t t = 0; t < read.size(); ++t) {
      threads.emplace_back([&, t] {
        std::string buffer;
        for (const KeyRef& key : keys) {
          const auto listing = source->open_key(key);
          if (listing && source->read_entry(listing->entries.at(0), 10, buffer) &&
              buffer[0] == key.key.str()[1])
            ++read[t];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(read == std::vector<std::size_t>(4, 26));
  }
}
