#include "store/lookup.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "base/fault_file_system.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

const std::string kFirst = "fabcdabcd" + repeated('b', 42) + "a";
const std::string kSecond = "fabcdabce" + repeated('b', 42) + "a";
const std::string kAot = "aabcd" + repeated('b', 46) + "a";

void fill(MemoryFileSystem& fs) {
  fs.add_file("/cache/" + fx_directory(kFirst) + "/" + leaf_name('x'), "");
  fs.add_file("/cache/" + fx_directory(kFirst) + "/" + leaf_name('y'), "");
  fs.add_file("/cache/" + fx_directory(kSecond) + "/" + leaf_name('z'), "");
  fs.add_file("/cache/aotautograd/" + kAot + "/entry", "");
}

std::vector<std::string> paths(Source& source, std::string_view text) {
  const auto found = lookup(source, text);
  if (!found) return {std::string(code_name(found.error().code))};
  std::vector<std::string> result;
  for (const EntryRef& entry : *found) result.push_back(entry_path(source.cache(), entry));
  return result;
}

}  // namespace

TEST_SUITE("store/lookup") {
  TEST_CASE("keys, leaves and prefixes of both") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    const std::string first_x = fx_directory(kFirst) + "/" + leaf_name('x');
    const std::string first_y = fx_directory(kFirst) + "/" + leaf_name('y');
    const std::vector<std::string> both{first_x, first_y};
    CHECK(paths(*source, kFirst) == both);
    CHECK(paths(*source, "key:" + kFirst) == both);
    CHECK(paths(*source, "fabcdabcd") == both);
    CHECK(paths(*source, kFirst + "/" + leaf_name('x')) == std::vector{first_x});
    CHECK(paths(*source, "fabcdabcd/y") == std::vector{first_y});
    CHECK(paths(*source, kAot + "/entry") == std::vector{"aotautograd/" + kAot + "/entry"});
    CHECK(paths(*source, "aabc") == std::vector{"aotautograd/" + kAot + "/entry"});
    CHECK(paths(*source, "zzzz") == std::vector{fx_directory(kSecond) + "/" + leaf_name('z')});
    CHECK(paths(*source, "fabc") == std::vector<std::string>{"key.ambiguous"});
    CHECK(paths(*source, kFirst + "/") == std::vector<std::string>{"key.ambiguous"});
    CHECK(paths(*source, "fz") == std::vector<std::string>{"key.unknown"});
    CHECK(paths(*source, kFirst + "/q") == std::vector<std::string>{"key.unknown"});
    CHECK(paths(*source, hash_name('f', 'q')) == std::vector<std::string>{"key.unknown"});
    CHECK(paths(*source, "key:") == std::vector<std::string>{"usage"});
  }

  TEST_CASE("an ambiguous prefix lists what fits") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    const auto found = lookup(*source, "f");
    REQUIRE_FALSE(found);
    CHECK(found.error().hint == kFirst + "\n" + kSecond);
    const auto leaves = lookup(*source, kFirst + "/");
    REQUIRE_FALSE(leaves);
    CHECK(leaves.error().hint == kFirst + "/" + leaf_name('x') + "\n" + kFirst + "/" + leaf_name('y'));
  }

  TEST_CASE("a module's name points to `which`") {
    MemoryFileSystem fs;
    fill(fs);
    const auto source = open_source(fs, "/cache");
    const auto found = lookup(*source, "c" + repeated('q', 20));
    REQUIRE_FALSE(found);
    CHECK(found.error().hint.find("which") != std::string::npos);
  }

  TEST_CASE("a full key costs the same however many keys there are") {
    const auto calls_with = [](int others) {
      MemoryFileSystem inner;
      fill(inner);
      constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
      for (int i = 0; i < others; ++i) {
        const auto at = static_cast<std::size_t>(i);
        std::string key = hash_name('f', 'q');
        key[1] = kLetters[at % 32];
        key[2] = kLetters[at / 32 % 32];
        inner.add_file("/cache/" + fx_directory(key) + "/" + leaf_name('x'), "");
      }
      FaultFileSystem fs(inner);
      const auto source = open_source(fs, "/cache");
      const std::uint64_t before = fs.calls();
      CHECK(lookup(*source, kFirst));
      return fs.calls() - before;
    };
    CHECK(calls_with(500) == calls_with(0));
  }

  TEST_CASE("what has the form of a key") {
    CHECK(looks_like_key("fabc"));
    CHECK(looks_like_key(kFirst));
    CHECK(looks_like_key(kFirst + "/" + leaf_name('x')));
    CHECK(looks_like_key("fabc/entry"));
    CHECK(looks_like_key("key:anything"));
    CHECK_FALSE(looks_like_key("fxgraph/ab/c"));
    CHECK_FALSE(looks_like_key("kk/file"));
    CHECK_FALSE(looks_like_key("./fabc"));
    CHECK_FALSE(looks_like_key("Fabc"));
    CHECK_FALSE(looks_like_key(""));
    CHECK_FALSE(looks_like_key(kFirst + "a"));
  }

  TEST_CASE("abbreviations are unique and as short as that allows") {
    rc::check([] {
      const auto count = *rc::gen::inRange<std::size_t>(1, 200);
      std::vector<KeyRef> keys(count);
      for (KeyRef& key : keys) {
        key.key.prefix = 'f';
        // Few distinct first bytes, so that long prefixes are shared.
        for (auto& byte : key.key.digest) byte = static_cast<std::uint8_t>(*rc::gen::inRange(0, 2) * 8);
        key.key.digest.back() = 0;
      }
      const KeyAbbreviations abbreviations(keys, 4);
      for (const KeyRef& key : keys) {
        const std::string brief = abbreviations.shorten(key.key);
        RC_ASSERT(brief.size() >= 4u);
        const auto fits = [&](std::string_view prefix) {
          std::vector<std::string> names;
          for (const KeyRef& other : keys) {
            if (other.key.str().starts_with(prefix)) names.push_back(other.key.str());
          }
          std::sort(names.begin(), names.end());
          names.erase(std::unique(names.begin(), names.end()), names.end());
          return names.size();
        };
        RC_ASSERT(fits(brief) == 1u);
        if (brief.size() > 4) RC_ASSERT(fits(std::string_view(brief).substr(0, brief.size() - 1)) > 1u);
      }
    });
  }

  TEST_CASE("a key that isn't in the set is not abbreviated") {
    const KeyAbbreviations abbreviations({});
    CHECK(abbreviations.shorten(*torch::HashName::parse(kFirst)) == kFirst);
  }
}
