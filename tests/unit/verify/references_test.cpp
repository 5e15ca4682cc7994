#include "verify/references.h"
#include "torch/known_builds.h"

#include <doctest/doctest.h>

#include "unit/verify/hand_made.h"
#include "verify/content_mark.h"
#include "verify/triton_name.h"

using namespace cachetool;
using namespace verify_tests;
using namespace store_tests;
using verify::check_references;

TEST_SUITE_BEGIN("verify/references");

namespace {

const std::string kGraph = hash_name('f', 'g');
const std::string kAot = hash_name('a', 'g');
const std::string kWrapper = hash_name('c', 'w');
const std::string kKernel = hash_name('c', 't');
const std::string kLibrary = hash_name('c', 'l');
const std::string kGraphEntry = fx_directory(kGraph) + "/" + leaf_name('e');
const std::string kAotEntry = "aotautograd/" + kAot + "/" + leaf_name('e');
const torch::HashName kFingerprint = torch::content_hash("kernel text");

verify::ModuleFacts module_facts(const std::string& name) {
  verify::ModuleFacts facts;
  facts.content = {name_of(name), 0};
  return facts;
}

verify::CppSourceFacts cpp_facts(bool is_probe = false) {
  verify::CppSourceFacts facts;
  facts.fingerprint = kFingerprint;
  facts.is_isa_probe = is_probe;
  return facts;
}

/// An entry whose wrapper is whole.
void add_graph(HandMade& tree, std::unique_ptr<verify::EntryFacts> facts) {
  tree.add(kGraphEntry, std::move(facts));
  tree.add(shard_file(kWrapper, "py"), module_facts(kWrapper));
}

}  // namespace

TEST_CASE("an AOTAutograd entry's graph: there, missing, under other guards, unreadable") {
  HandMade whole;
  whole.add(kAotEntry, aot_entry(kGraph));
  add_graph(whole, graph_entry(kWrapper));
  CHECK(whole.lines(check_references).empty());

  HandMade missing;
  missing.add(kAotEntry, aot_entry(kGraph));
  CHECK(missing.lines(check_references) == Lines{"warning aotautograd.graph-missing " + kAotEntry});

  HandMade other;
  auto guarded = graph_entry(kWrapper);
  guarded->guards = torch::content_hash("L['t0'] > 2");
  other.add(kAotEntry, aot_entry(kGraph));
  add_graph(other, std::move(guarded));
  CHECK(other.lines(check_references) == Lines{"warning aotautograd.graph-guards " + kAotEntry});

  HandMade damaged;
  damaged.add(kAotEntry, aot_entry(kGraph));
  damaged.add(kGraphEntry);
  CHECK(damaged.lines(check_references).empty());
  CHECK(damaged.not_checkable(verify::checks::kGraphMissing) == 1);
}

TEST_CASE("one candidate with the right guards is enough, and up to 2.7 any") {
  HandMade tree;
  auto guarded = graph_entry(kWrapper);
  guarded->guards = torch::content_hash("L['t0'] > 2");
  tree.add(kAotEntry, aot_entry(kGraph));
  add_graph(tree, std::move(guarded));
  tree.add(fx_directory(kGraph) + "/" + leaf_name('f'), graph_entry(kWrapper));
  CHECK(tree.lines(check_references).empty());

  HandMade old;
  auto aot = aot_entry(kGraph);
  aot->references[0].guards.reset();
  auto other = graph_entry(kWrapper);
  other->guards = torch::content_hash("L['t0'] > 2");
  old.add(kAotEntry, std::move(aot));
  add_graph(old, std::move(other));
  CHECK(old.lines(check_references).empty());
}

TEST_CASE("frozen parameters behind an AOTAutograd entry, by reference and bundled") {
  HandMade tree;
  auto frozen = graph_entry(kWrapper);
  frozen->names_frozen_parameters = true;
  tree.add(kAotEntry, aot_entry(kGraph));
  add_graph(tree, std::move(frozen));
  CHECK(tree.lines(check_references) == Lines{"error aotautograd.frozen " + kAotEntry});

  HandMade bundled;
  auto facts = graph_entry(kWrapper);
  facts->kind = torch::EntryKind::kAotAutograd;
  facts->names_frozen_parameters = true;
  bundled.add(kAotEntry, std::move(facts));
  bundled.add(shard_file(kWrapper, "py"), module_facts(kWrapper));
  CHECK(bundled.lines(check_references) == Lines{"error aotautograd.frozen " + kAotEntry});

  // A graph by itself may be frozen.
  HandMade alone;
  auto graph = graph_entry(kWrapper);
  graph->names_frozen_parameters = true;
  add_graph(alone, std::move(graph));
  CHECK(alone.lines(check_references).empty());
}

TEST_CASE("a wrapper that differs is one finding however many entries name it, and goes by itself") {
  HandMade tree;
  tree.add(kGraphEntry, graph_entry(kWrapper));
  tree.add(fx_directory(kGraph) + "/" + leaf_name('f'), graph_entry(kWrapper));
  tree.add(shard_file(kWrapper, "py"), module_facts(hash_name('c', 'x')));
  const auto findings = tree.run(check_references);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].check->id == "wrapper.differs");
  CHECK(findings[0].severity == verify::Severity::kError);
  CHECK(findings[0].path == shard_file(kWrapper, "py"));
  CHECK(findings[0].repair == Lines{shard_file(kWrapper, "py")});
  CHECK(findings[0].key == kGraph + "/" + leaf_name('e'));
}

TEST_CASE("a wrapper is missing, or its entry calls it by a wrong name") {
  HandMade tree;
  tree.add(kGraphEntry, graph_entry(kWrapper));
  CHECK(tree.lines(check_references) == Lines{"info module.missing " + kGraphEntry});

  // The file is what its name says, so the entry is at fault.
  HandMade renamed;
  auto entry = graph_entry(kWrapper);
  entry->graphs[0].source->name = name_of(hash_name('c', 'x'));
  add_graph(renamed, std::move(entry));
  CHECK(renamed.lines(check_references).empty());
}

TEST_CASE("a C++ kernel: whole, without library, without anything, in an import") {
  const auto entry = [] {
    auto facts = graph_entry(kWrapper);
    facts->graphs[0].links.cpp_kernels.push_back({kFingerprint, "cpp_fused_0"});
    return facts;
  };
  const std::string source = shard_file(kLibrary, "main.cpp");
  HandMade whole;
  add_graph(whole, entry());
  whole.add(source, cpp_facts());
  whole.add(shard_file(kLibrary, "main.so"));
  CHECK(whole.lines(check_references).empty());

  HandMade unbuilt;
  add_graph(unbuilt, entry());
  unbuilt.add(source, cpp_facts());
  CHECK(unbuilt.lines(check_references) == Lines{"warning cpp.library-missing " + source});

  HandMade gone;
  add_graph(gone, entry());
  auto other = cpp_facts();
  other.fingerprint = torch::content_hash("another kernel");
  gone.add(source, std::move(other));
  gone.add(shard_file(kLibrary, "main.so"));
  CHECK(gone.lines(check_references) == Lines{"warning cpp.kernel-missing " + kGraphEntry});

  // Another entry that lacks the same kernel isn't told again.
  gone.add(fx_directory(kGraph) + "/" + leaf_name('f'), entry());
  add_graph(gone, entry());
  auto unnamed = cpp_facts();
  unnamed.fingerprint = torch::content_hash("another kernel");
  gone.add(source, std::move(unnamed));
  const auto findings = gone.run(check_references);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.find("one may have been changed") != std::string::npos);

  HandMade imported;
  add_graph(imported, entry());
  CHECK(imported.lines(check_references) == Lines{"info cpp.kernel-missing " + kGraphEntry});

  HandMade sourceless;
  add_graph(sourceless, entry());
  sourceless.add(shard_file(kLibrary, "main.so"));
  CHECK(sourceless.lines(check_references) ==
        Lines{"info cpp.source-missing " + shard_file(kLibrary, "main.so")});
  CHECK(sourceless.not_checkable(verify::checks::kCppKernelMissing) == 1);
}

TEST_CASE("C++ sources that no entry names, probes, and one that is being compiled") {
  HandMade tree;
  tree.add(shard_file(kLibrary, "main.cpp"), cpp_facts());
  tree.add(shard_file(hash_name('c', 'p'), "cpp"), cpp_facts(true));
  CHECK(tree.lines(check_references) ==
        Lines{"info cpp.library-missing " + shard_file(kLibrary, "main.cpp")});

  tree.add(shard_file(kLibrary, "main.cpp"), cpp_facts());
  tree.add("locks/" + kLibrary + ".lock");
  const auto locks = tree.fs.open_root("/cache/locks");
  const auto held = tree.fs.try_lock(**locks, *Name::parse(kLibrary + ".lock"), LockMode::kExclusive);
  REQUIRE(held);
  CHECK(tree.lines(check_references).empty());
}

namespace {

const std::string kHash = std::string(62, '0') + "ff";
const std::string kDirectory = verify::triton_directory_names(kHash)[0];

/// A graph with one Triton kernel, bundled.
std::unique_ptr<verify::EntryFacts> triton_entry(torch::ReleaseFamily release = torch::ReleaseFamily::k2_9) {
  auto facts = graph_entry(kWrapper);
  facts->first = facts->last = release;
  verify::GraphFacts& graph = facts->graphs[0];
  graph.links.triton_modules.push_back({name_of(kKernel), "triton_k"});
  graph.has_bundle = true;
  graph.bundle.push_back(
      {kDirectory, {"__grp__triton_k.json", "triton_k.cubin", "triton_k.json", "triton_k.ttir"}, {}});
  graph.static_kernels.push_back({"triton_k", "triton_k", kHash, false});
  return facts;
}

void add_triton(HandMade& tree, std::unique_ptr<verify::EntryFacts> facts,
                const std::vector<std::string>& files) {
  add_graph(tree, std::move(facts));
  tree.add(shard_file(kKernel, "py"), module_facts(kKernel));
  for (const std::string& file : files) tree.add("triton/0/" + kDirectory + "/" + file);
}

}  // namespace

TEST_CASE(
    "a kernel directory that is partly there hides the bundle's copy, by what is lacking and the release") {
  using enum torch::ReleaseFamily;
  const std::string place = " triton.hides-bundle triton/0/" + kDirectory;
  const auto lines = [](torch::ReleaseFamily release, const std::vector<std::string>& files) {
    HandMade tree;
    add_triton(tree, triton_entry(release), files);
    return tree.lines(check_references);
  };
  const std::string group = "__grp__triton_k.json";
  CHECK(lines(k2_9, {}).empty());
  CHECK(lines(k2_9, {group, "triton_k.cubin", "triton_k.json", "triton_k.ttir"}).empty());
  CHECK(lines(k2_9, {group, "triton_k.json", "triton_k.ttir"}) == Lines{"error" + place});
  CHECK(lines(k2_14, {group, "triton_k.json", "triton_k.ttir"}) == Lines{"warning" + place});
  CHECK(lines(k2_9, {"triton_k.cubin", "triton_k.json", "triton_k.ttir"}) == Lines{"warning" + place});
  CHECK(lines(k2_9, {group, "triton_k.cubin", "triton_k.json"}) == Lines{"info" + place});
  CHECK(lines(k2_14, {group, "triton_k.cubin", "triton_k.json"}) == Lines{"warning" + place});
}

TEST_CASE("what a directory holds is compared with what the entry carries") {
  const std::vector<std::string> files{"__grp__triton_k.json", "triton_k.cubin", "triton_k.json",
                                       "triton_k.ttir"};
  const auto lines = [&](const std::string& changed) {
    HandMade tree;
    auto facts = triton_entry();
    for (const std::string& file : files)
      facts->graphs[0].bundle[0].contents.push_back(
          file.ends_with(".json") ? verify::content_mark("{\"p\": \"[REPLACE]/" + file + "\"}")
                                  : verify::content_mark(file));
    add_triton(tree, std::move(facts), files);
    for (const std::string& file : files) {
      const std::string path = "triton/0/" + kDirectory + "/" + file;
      const std::string json = "{\"p\": \"/elsewhere/triton/0/" + kDirectory + "/" + file + "\"}";
      tree.mark(path, file.ends_with(".json") ? verify::bundled_json_mark(json, kDirectory)
                                              : verify::content_mark(file));
      if (file == changed) tree.mark(path, verify::content_mark("changed"));
    }
    return tree.lines(check_references);
  };
  const std::string place = " triton.differs-from-bundle triton/0/" + kDirectory;
  CHECK(lines("").empty());
  CHECK(lines("triton_k.cubin") == Lines{"error" + place});
  CHECK(lines("triton_k.json") == Lines{"error" + place});
  CHECK(lines("triton_k.ttir") == Lines{"info" + place});
  CHECK(lines("__grp__triton_k.json") == Lines{"info" + place});
}

TEST_CASE("the directory is quarantined as a whole") {
  HandMade tree;
  add_triton(tree, triton_entry(), {"triton_k.json"});
  const auto findings = tree.run(check_references);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].repair == Lines{"triton/0/" + kDirectory});
}

TEST_CASE("kernels and binaries that are nowhere") {
  HandMade bare;
  auto facts = triton_entry();
  facts->graphs[0].bundle.clear();
  add_triton(bare, std::move(facts), {});
  CHECK(bare.lines(check_references) == Lines{"warning triton.kernel-missing " + kGraphEntry,
                                              "warning triton.static-missing " + kGraphEntry});

  // The binary is in the entry's own autotuner.
  HandMade raw;
  facts = triton_entry();
  facts->graphs[0].bundle.clear();
  facts->graphs[0].static_kernels[0].has_binary = true;
  add_triton(raw, std::move(facts), {});
  CHECK(raw.lines(check_references) == Lines{"warning triton.kernel-missing " + kGraphEntry});

  // Bundled for another graph, and still on disk.
  HandMade on_disk;
  facts = triton_entry();
  facts->graphs[0].bundle.clear();
  add_triton(on_disk, std::move(facts), {"triton_k.cubin", "triton_k.json"});
  on_disk.add("triton/0/" + kDirectory + "/triton_k.ttir", verify::TritonTextFacts{name_of(kKernel)});
  CHECK(on_disk.lines(check_references).empty());
}

TEST_CASE("several configurations ask for a result") {
  const std::string second = verify::triton_directory_names(std::string(62, '0') + "fe")[0];
  const std::string module = shard_file(kKernel, "py");
  const auto tree_with = [&](HandMade& tree, std::size_t autotuned) {
    auto facts = triton_entry();
    auto& kernels = facts->graphs[0].static_kernels;
    while (kernels.size() < autotuned) kernels.push_back(kernels[0]);
    if (autotuned == 0) kernels.clear();
    add_triton(tree, std::move(facts), {"__grp__triton_k.json", "triton_k.cubin", "triton_k.json"});
    for (const std::string& directory : {kDirectory, second})
      tree.add("triton/0/" + directory + "/triton_k.ttir", verify::TritonTextFacts{name_of(kKernel)});
  };
  const Lines missing{"warning autotune.missing " + module};

  HandMade by_autotuner;
  tree_with(by_autotuner, 2);
  CHECK(by_autotuner.lines(check_references) == missing);

  HandMade by_directories;
  tree_with(by_directories, 0);
  CHECK(by_directories.lines(check_references) == missing);

  HandMade chosen;
  tree_with(chosen, 1);
  CHECK(chosen.lines(check_references).empty());

  HandMade named;  // as torch up to 2.7 names it
  tree_with(named, 2);
  const std::string config = to_hex(sha256(kKernel + ".py:")) + ".best_config";
  named.add(kKernel.substr(1, 2) + "/" + config, verify::BestConfigFacts{});
  CHECK(named.lines(check_references).empty());

  HandMade by_directory;  // a build whose torch_key isn't known
  tree_with(by_directory, 2);
  by_directory.add(kKernel.substr(1, 2) + "/" + std::string(64, 'a') + ".best_config",
                   verify::BestConfigFacts{second});
  CHECK(by_directory.lines(check_references).empty());

  HandMade misnamed;  // the same, with an entry of a build whose names are known
  auto known = triton_entry();
  known->torch_identity = torch::known_builds().back().identity;
  while (known->graphs[0].static_kernels.size() < 2)
    known->graphs[0].static_kernels.push_back(known->graphs[0].static_kernels[0]);
  add_triton(misnamed, std::move(known), {"__grp__triton_k.json", "triton_k.cubin", "triton_k.json"});
  misnamed.add("triton/0/" + second + "/triton_k.ttir", verify::TritonTextFacts{name_of(kKernel)});
  const std::string wrong = kKernel.substr(1, 2) + "/" + std::string(64, 'a') + ".best_config";
  misnamed.add(wrong, verify::BestConfigFacts{second});
  CHECK(misnamed.lines(check_references).back() == "warning best-config.name " + wrong);

  HandMade unknown;
  tree_with(unknown, 2);
  unknown.add(kKernel.substr(1, 2) + "/" + std::string(64, 'a') + ".best_config", verify::BestConfigFacts{});
  CHECK(unknown.lines(check_references).empty());
  CHECK(unknown.not_checkable(verify::checks::kAutotuneMissing) == 1);
}

TEST_CASE("names of Triton directories") {
  const auto names = verify::triton_directory_names(std::string(64, '0'));
  CHECK(names == Lines{repeated('A', 52), repeated('A', 43), repeated('0', 64)});
  CHECK(verify::triton_directory_names("00").empty());
}

TEST_CASE("a list of names stays short") {
  CHECK(verify::name_some({"a"}) == "a");
  CHECK(verify::name_some({"a", "b"}) == "a and b");
  CHECK(verify::name_some({"a", "b", "c", "d", "e"}) == "a, b, c and 2 more");
}
