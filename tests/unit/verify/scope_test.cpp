#include "verify/scope.h"

#include <doctest/doctest.h>

#include <set>

#include "store/lookup.h"
#include "unit/verify/hand_made.h"

using namespace cachetool;
using namespace verify_tests;
using namespace store_tests;

TEST_SUITE_BEGIN("verify/scope");

namespace {

const std::string kFirst = hash_name('f', 'b');
const std::string kSecond = hash_name('f', 'd');
const std::string kAot = hash_name('a', 'b');
const std::string kFirstEntry = fx_directory(kFirst) + "/" + leaf_name('e');
const std::string kSecondEntry = fx_directory(kSecond) + "/" + leaf_name('e');
const std::string kAotEntry = "aotautograd/" + kAot + "/" + leaf_name('e');

/// The paths in scope after everything was followed from what `inventory` has marked.
std::set<std::string> followed(verify::Inventory& inventory, const verify::Options& options,
                               std::map<std::string, verify::Facts> facts_of) {
  verify::mark_asked(inventory, options);
  std::vector<verify::Facts> facts(inventory.files().size());
  for (verify::FileId id = 0; id < facts.size(); ++id) {
    const auto found = facts_of.find(inventory.path(id));
    if (found != facts_of.end()) facts[id] = std::move(found->second);
  }
  const std::vector<std::uint8_t> read(facts.size(), 1);
  const verify::CacheFacts cache{inventory, facts, read, options};
  verify::take_in_graphs(cache, inventory);
  verify::take_in_kernels(cache, inventory);
  std::set<std::string> paths;
  for (verify::FileId id = 0; id < facts.size(); ++id)
    if (inventory.file(id).in_scope) paths.insert(inventory.path(id));
  return paths;
}

/// Two graphs; the first, which an AOTAutograd entry names, leads to one of everything.
struct Tree {
  MemoryFileSystem fs;
  std::map<std::string, verify::Facts> facts;
  std::set<std::string> of_first;
  const std::string wrapper = shard_file(hash_name('c', 'w'), "py");
  const std::string module = shard_file(hash_name('c', 't'), "py");
  const std::string source = shard_file(hash_name('c', 'l'), "main.cpp");
  const std::string library = shard_file(hash_name('c', 'l'), "main.so");
  const std::string text = "triton/0/" + repeated('D', 52) + "/k.ttir";
  const std::string binary = "triton/0/" + repeated('D', 52) + "/k.cubin";
  const std::string config = "tt/" + std::string(64, 'a') + ".best_config";

  Tree() {
    const torch::HashName fingerprint = torch::content_hash("text");
    auto first = graph_entry(hash_name('c', 'w'));
    first->graphs[0].links.triton_modules.push_back({name_of(hash_name('c', 't')), "k"});
    first->graphs[0].links.cpp_kernels.push_back({fingerprint, "c"});
    facts[kFirstEntry] = std::move(first);
    facts[kSecondEntry] = graph_entry(hash_name('c', 'v'));
    facts[kAotEntry] = aot_entry(kFirst);
    verify::CppSourceFacts cpp;
    cpp.fingerprint = fingerprint;
    facts[source] = std::move(cpp);
    facts[text] = verify::TritonTextFacts{name_of(hash_name('c', 't'))};
    facts[config] = verify::BestConfigFacts{repeated('D', 52)};
    of_first = {kFirstEntry, wrapper, module, source, library, text, binary, config};
    for (const std::string& path : of_first) fs.add_file("/cache/" + path, "x");
    for (const std::string& path : {kSecondEntry, kAotEntry, shard_file(hash_name('c', 'v'), "py")})
      fs.add_file("/cache/" + path, "x");
  }
};

}  // namespace

TEST_CASE("an entry's scope is all that it leads to and nothing else") {
  Tree tree;
  const auto source = open_source(tree.fs, "/cache/" + kFirstEntry);
  auto inventory = verify::Inventory::make(*source);
  REQUIRE(inventory);
  CHECK(verify::is_scoped(source->cache(), {}));
  CHECK(followed(*inventory, {}, std::move(tree.facts)) == tree.of_first);
}

TEST_CASE("an AOTAutograd entry's scope includes its graphs, asked for by key") {
  Tree tree;
  const auto source = open_source(tree.fs, "/cache");
  verify::Options options;
  options.entries = *store::lookup(*source, kAot);
  auto inventory = verify::Inventory::make(*source);
  REQUIRE(inventory);
  std::set<std::string> expected = tree.of_first;
  expected.insert(kAotEntry);
  CHECK(followed(*inventory, options, std::move(tree.facts)) == expected);
}

TEST_CASE("a shard's scope is its files and what its kernel modules were compiled to") {
  Tree tree;
  const auto source = open_source(tree.fs, "/cache/tt");
  auto inventory = verify::Inventory::make(*source);
  REQUIRE(inventory);
  CHECK(followed(*inventory, {}, std::move(tree.facts)) ==
        std::set<std::string>{tree.module, tree.text, tree.binary, tree.config});
}

TEST_CASE("only what is asked for counts and is told") {
  Tree tree;
  tree.fs.add_file("/cache/" + kSecondEntry, "garbage");
  tree.fs.add_file("/cache/locks/" + hash_name('c', 'l') + ".lock", "");
  verify::Result result = verify_tree(tree.fs, "/cache/aotautograd");
  CHECK(result.files == 1);
  CHECK(result.entries == 1);
  CHECK(result.bytes == 1);
  for (const auto& finding : result.findings) CHECK(finding.path == kAotEntry);
  CHECK_FALSE(result.findings.empty());
}

TEST_CASE("around a single file nothing else is looked at") {
  MemoryFileSystem fs;
  fs.add_file("/download/" + leaf_name('e'), "\x80\x04 torch._inductor.output_code CompiledFxGraph");
  fs.add_file("/download/other/huge.bin", "x");
  const auto source = open_source(fs, "/download/" + leaf_name('e'));
  REQUIRE(source != nullptr);
  const auto inventory = verify::Inventory::make(*source);
  REQUIRE(inventory);
  CHECK(inventory->files().size() == 1);
}
