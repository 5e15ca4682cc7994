#include <doctest/doctest.h>

#include <functional>

#include "base/hash.h"
#include "container/frame.h"
#include "unit/store/trees.h"
#include "unit/verify/run.h"
#include "verify/vllm_files.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/vllm");

namespace {

const std::string kEnv = R"({"VLLM_API_KEY": null, "VLLM_USE_V1": true})";
const std::string kCode(64, 'c');

std::string configuration(const std::string& env) {
  const std::string list = "['" + to_hex(sha256(env)) + "', '0123456789', '" + kCode + "', 'abcdefabcd']";
  return to_hex(sha256(list)).substr(0, 10);
}

std::string factors(const std::string& env) {
  return R"({"code_hash": ")" + kCode +
         R"(", "compiler_hash": "abcdefabcd", "config_hash": "0123456789", "env": )" + env + "}";
}

struct Tree {
  MemoryFileSystem fs;
  std::string env = kEnv;
  std::string prefix() const { return "torch_compile_cache/" + configuration(env) + "/rank_0_0/backbone"; }
  std::string at(const std::string& name) const { return "/cache/" + prefix() + "/" + name; }
};

const std::string kArtifact = "artifact_compile_range_1_64_subgraph_0";
const std::string kOther = "artifact_compile_range_1_64_subgraph_1";

/// An unpacked artifact with these AOTAutograd keys.
void add_artifact(Tree& tree, const std::string& name, const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    tree.fs.add_file(tree.at(name + "/aotautograd/" + key + "/.unfinished"), "x");
  tree.fs.add_file(tree.at(name + "/locks/x.lock"), "");
}

std::string key_named(char fill) {
  return store_tests::hash_name('a', fill);
}

/// The index of 0.15.1 (without keys) or 0.18.1 on.
std::string index_of(const std::string& directory, const std::vector<std::string>& names, bool with_keys) {
  std::string text = "{";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string handle = "('" + names[i] + "', '" + directory + "/" + names[i] + "')";
    text += "((1, 64), " + std::to_string(i) + ", 'inductor_standalone'): ";
    text += with_keys ? "{'cache_key': '" + key_named('k') + "', 'graph_handle': " + handle + "}" : handle;
    text += ",\n ";
  }
  return text + "}";
}

/// Findings of a whole tree after `change`, those of leftovers in the artifacts left out.
Lines after(const std::function<void(Tree&)>& change, const std::string& env = kEnv) {
  Tree tree;
  tree.env = env;
  tree.fs.add_file(tree.at("cache_key_factors.json"), factors(env));
  tree.fs.add_file(tree.at("vllm_compile_cache.py"), index_of("/cache/" + tree.prefix(), {kArtifact}, true));
  add_artifact(tree, kArtifact, {key_named('k')});
  change(tree);
  const auto result = verify_tree(tree.fs, "/cache");
  Lines lines;
  for (const auto& finding : result.findings) {
    const std::string_view id = finding.check->id;
    if (!id.starts_with("vllm.") && !id.starts_with("file.")) continue;
    lines.push_back(std::string(severity_name(finding.severity)) + " " + std::string(id));
    CHECK(finding.message.find("s3cret") == std::string::npos);
    if (!finding.repair.empty()) CHECK(finding.repair == Lines{tree.prefix()});
  }
  return lines;
}

void set_index(Tree& tree, const std::string& text) {
  tree.fs.add_file(tree.at("vllm_compile_cache.py"), text);
}

}  // namespace

TEST_CASE("a whole prefix directory is fine") {
  CHECK(after([](Tree&) {}).empty());
}

TEST_CASE("the index: cut anywhere, of another form, naming what isn't there") {
  Tree whole;
  const std::string index = index_of("/cache/" + whole.prefix(), {kArtifact}, true);
  for (std::size_t length = 0; length < index.size(); ++length) {
    CAPTURE(length);
    const Lines lines = after([&](Tree& tree) { set_index(tree, index.substr(0, length)); });
    REQUIRE(lines.size() == 1);
    CHECK((lines[0] == "error file.truncated" || lines[0] == "error file.empty"));
  }
  CHECK(after([](Tree& tree) { set_index(tree, "{1: 2}"); }) == Lines{"error vllm.index"});
  CHECK(after([](Tree& tree) { set_index(tree, "[]"); }) == Lines{"error vllm.index"});
  CHECK(after([](Tree& tree) { set_index(tree, "import os"); }) == Lines{"error vllm.index"});
  CHECK(after([](Tree& tree) {
          set_index(tree, index_of("/cache/" + tree.prefix(), {kArtifact, kOther}, true));
        }) == Lines{"error vllm.artifact-missing"});
  CHECK(after([](Tree& tree) { tree.fs.remove(tree.at(kArtifact)); }) ==
        Lines{"error vllm.artifact-missing"});
}

TEST_CASE("artifacts that no index names") {
  CHECK(after([](Tree& tree) { add_artifact(tree, kOther, {key_named('k')}); }) ==
        Lines{"info vllm.artifact-unlisted"});
  CHECK(after([](Tree& tree) { tree.fs.remove(tree.at("vllm_compile_cache.py")); }) ==
        Lines{"info vllm.artifact-unlisted"});
}

TEST_CASE("an unpacked artifact holds exactly one key, that of the index") {
  CHECK(after([](Tree& tree) { add_artifact(tree, kArtifact, {key_named('o')}); }) ==
        Lines{"error vllm.unpacked-keys"});
  CHECK(after([](Tree& tree) { tree.fs.remove(tree.at(kArtifact + "/aotautograd")); }) ==
        Lines{"error vllm.unpacked-keys"});
  CHECK(after([](Tree& tree) {
          tree.fs.remove(tree.at(kArtifact));
          add_artifact(tree, kArtifact, {key_named('o')});
        }) == Lines{"error vllm.artifact-key"});
}

TEST_CASE("a moved index is an error where paths are opened") {
  const auto move = [](Tree& tree) { set_index(tree, index_of("/elsewhere/backbone", {kArtifact}, true)); };
  CHECK(after(move) == Lines{"warning vllm.moved"});
  // Releases that go by the name don't list the API key any more.
  CHECK(after(move, R"({"VLLM_USE_V1": true})").empty());
  CHECK(after([&](Tree& tree) {
          move(tree);
          tree.fs.remove(tree.at("cache_key_factors.json"));
        }) == Lines{"warning vllm.moved"});
  CHECK(after([](Tree& tree) { set_index(tree, index_of("/elsewhere/backbone", {kArtifact}, false)); }) ==
        Lines{"warning vllm.moved"});
}

TEST_CASE("the classic adaptor looks for a graph in the cache beside the prefix directories") {
  const std::string graph = store_tests::hash_name('f', 'g');
  const std::string index = "{(None, 0, 'inductor'): ('" + graph + "', '/old/inductor_cache/xx/x.py')}";
  const auto with_graph = [&](bool there) {
    return after([&](Tree& tree) {
      tree.fs.remove(tree.at(kArtifact));
      set_index(tree, index);
      const std::string place = tree.prefix().substr(0, tree.prefix().rfind('/')) + "/inductor_cache/";
      if (there) tree.fs.add_file("/cache/" + place + store_tests::fx_directory(graph) + "/.x.tmp", "x");
    });
  };
  CHECK(with_graph(true).empty());
  CHECK(with_graph(false) == Lines{"error vllm.artifact-missing"});
}

TEST_CASE("factors: name of the directory, secrets, form") {
  CHECK(after([](Tree& tree) { tree.fs.add_file(tree.at("cache_key_factors.json"), factors("{}")); }) ==
        Lines{"error vllm.factors"});
  CHECK(after([](Tree&) {}, R"({"VLLM_API_KEY": "s3cret"})") == Lines{"warning vllm.secret"});
  CHECK(after([](Tree&) {}, R"({"VLLM_API_KEY": "", "VLLM_MAX_TOKENS": 12})").empty());
  CHECK(after([](Tree&) {}, R"({"VLLM_MIRROR": "https://ada:s3cret@example.org"})") ==
        Lines{"warning vllm.secret"});
  CHECK(after([](Tree& tree) { tree.fs.add_file(tree.at("cache_key_factors.json"), R"({"env": 1})"); }) ==
        Lines{"info file.shape"});
  // A value that was masked makes the name uncheckable, not wrong.
  CHECK(after([](Tree& tree) {
          tree.fs.add_file(tree.at("cache_key_factors.json"), factors(R"({"VLLM_API_KEY": "[redacted]"})"));
        }).empty());
}

TEST_SUITE_END();
