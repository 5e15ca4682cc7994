#include "verify/entry_file.h"

#include <doctest/doctest.h>

#include "torch/decode.h"
#include "torch/key.h"
#include "unit/torch/pickle_text.h"
#include "unit/verify/own_lines.h"

using namespace cachetool;
using namespace verify_tests;
using pickle_text::entry_file;

TEST_SUITE_BEGIN("verify/entry_file");

namespace {

const std::string kAotKey = store_tests::hash_name('a', 'k');

std::string key_of(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = torch::decode_entry(bytes, budget);
  const torch::CompiledFxGraph* graph = decoded ? decoded->fx_graph() : nullptr;
  if (graph == nullptr || !graph->fx_graph_cache_key) return store_tests::hash_name('f', 'k');
  return std::string(*graph->fx_graph_cache_key);
}

std::string name_of(const std::string& bytes) {
  return torch::content_hash(bytes).str();
}

/// A cache with one file in the directory of a graph's key.
struct GraphTree {
  MemoryFileSystem fs;
  std::string directory;
  explicit GraphTree(const std::string& key) : directory("/cache/" + store_tests::fx_directory(key)) {
    fs.add_dir(directory);
  }
  GraphTree(const std::string& bytes, const std::string& name) : GraphTree(key_of(bytes)) {
    fs.add_file(directory + "/" + name, bytes);
  }
};

/// What verify says of `bytes` where `original` stood.
Lines graph_ids(const std::string& original, const std::string& bytes, const verify::Options& options = {}) {
  GraphTree tree(key_of(original));
  tree.fs.add_file(tree.directory + "/" + name_of(original), bytes);
  return own_ids(tree.fs, options);
}

/// What it says of `bytes` under their own name.
Lines named_graph_ids(const std::string& key, const std::string& bytes) {
  GraphTree tree(key);
  tree.fs.add_file(tree.directory + "/" + name_of(bytes), bytes);
  return own_ids(tree.fs);
}

Lines aot_ids(const std::string& bytes, const std::string& name) {
  MemoryFileSystem fs;
  fs.add_file("/cache/aotautograd/" + kAotKey + "/" + name, bytes);
  return own_ids(fs);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

verify::Options quick() {
  verify::Options options;
  options.depth = verify::Depth::kQuick;
  return options;
}

const std::vector<std::string> kGraphs = {"fxgraph-2.15.0-cuda-parameter.pkl", "fxgraph-2.4.1-cpu.pkl",
                                          "fxgraph-2.6.0-constants.pkl", "fxgraph-2.6.0-cuda.pkl"};

}  // namespace

TEST_CASE("entries that torch wrote are fine") {
  for (const std::string& file : kGraphs) {
    CAPTURE(file);
    const std::string bytes = entry_file(file);
    GraphTree tree(bytes, name_of(bytes));
    const verify::Result result = own_result(tree.fs);
    CHECK(ids_of(result) == Lines{});
    CHECK(checked(result, verify::checks::kFxGraphName) == 1);
    CHECK(checked(result, verify::checks::kEntryCacheKey) == 1);
    const bool has_key = file.find("2.4.1") == std::string::npos;
    CHECK(checked(result, verify::checks::kEntryKey) == (has_key ? 1 : 0));
    CHECK(not_checkable(result, verify::checks::kEntryKey) == (has_key ? 0 : 1));
  }
  for (const char* file : {"aotautograd-2.15.0-mutation.pkl", "aotautograd-2.9.1-bundled.pkl",
                           "aotautograd-2.9.1-dynamic.pkl"}) {
    CAPTURE(file);
    const std::string bytes = entry_file(file);
    CHECK(aot_ids(bytes, name_of(bytes)) == Lines{});
    CHECK(aot_ids(bytes, "entry") == Lines{"error aotautograd.name"});
    CHECK(aot_ids(bytes, store_tests::leaf_name('q')) == Lines{"error aotautograd.name"});
  }
}

TEST_CASE("up to torch 2.7 the name of an AOTAutograd entry says nothing") {
  for (const char* file : {"aotautograd-2.5.1.pkl", "aotautograd-2.6.0-train.pkl"}) {
    MemoryFileSystem fs;
    fs.add_file("/cache/aotautograd/" + kAotKey + "/entry", entry_file(file));
    const verify::Result result = own_result(fs);
    CHECK(ids_of(result) == Lines{});
    CHECK(checked(result, verify::checks::kAotAutogradName) == 0);
    CHECK(not_checkable(result, verify::checks::kAotAutogradName) == 1);
  }
}

TEST_CASE("an entry that was cut is truncated and nothing else") {
  const std::string bytes = entry_file("fxgraph-2.15.0-cuda-parameter.pkl");
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{11},
                                   bytes.size() / 2, bytes.size() - 1}) {
    CAPTURE(length);
    CHECK(graph_ids(bytes, bytes.substr(0, length)) == Lines{"warning pickle.truncated"});
  }
  const std::string aot = entry_file("aotautograd-2.6.0-train.pkl");
  CHECK(aot_ids(aot.substr(0, aot.size() / 2), "entry") == Lines{"warning pickle.truncated"});
  CHECK(aot_ids("", "entry") == Lines{"warning pickle.truncated"});
}

TEST_CASE("each flipped bit gives one finding") {
  for (const char* file : {"fxgraph-2.15.0-cuda-parameter.pkl", "fxgraph-2.6.0-constants.pkl"}) {
    const std::string bytes = entry_file(file);
    const std::size_t step = bytes.size() / 60 + 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
      CAPTURE(at);
      const Lines found = graph_ids(bytes, changed);
      CHECK(found.size() == 1);
    }
  }
}

TEST_CASE("a changed text is a wrong name, unless the name was made to fit") {
  const std::string bytes = entry_file("fxgraph-2.15.0-cuda-parameter.pkl");
  const std::string key = key_of(bytes);
  const std::string changed = replaced(bytes, "from math import inf", "from math import tau");
  CHECK(graph_ids(bytes, changed) == Lines{"error fxgraph.name"});
  CHECK(named_graph_ids(key, changed) == Lines{"error entry.cache-key"});
  CHECK(named_graph_ids(store_tests::hash_name('f', 'q'), bytes) == Lines{"error entry.key"});
}

TEST_CASE("names that no entry has") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  GraphTree tree(bytes, "notes");
  tree.fs.add_file(tree.directory + "/.123.456", bytes);
  const verify::Result result = own_result(tree.fs);
  CHECK(ids_of(result) == Lines{"error fxgraph.name"});
  CHECK(result.findings[0].message == "`notes` is no name that torch gives an entry");
  CHECK(result.findings[0].key == key_of(bytes) + "/notes");
  CHECK(result.findings[0].repair == Lines{result.findings[0].path});
}

TEST_CASE("bytes behind the end") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  GraphTree tree(key_of(bytes));
  tree.fs.add_file(tree.directory + "/" + name_of(bytes), bytes + "extra");
  const verify::Result result = own_result(tree.fs);
  CHECK(ids_of(result) == Lines{"warning pickle.trailing-bytes"});
  CHECK(result.findings[0].offset == bytes.size());
}

TEST_CASE("well-formed pickles of something else") {
  const std::string graph = entry_file("fxgraph-2.6.0-cuda.pkl");
  const std::string aot = entry_file("aotautograd-2.9.1-dynamic.pkl");
  CHECK(graph_ids(graph, aot) == Lines{"error pickle.root-type"});
  CHECK(graph_ids(graph, pickle_text::pickle(pickle_text::dict())) == Lines{"error pickle.root-type"});
  CHECK(graph_ids(graph, pickle_text::pickle(pickle_text::instance("os", "Thing", pickle_text::dict()))) ==
        Lines{"error pickle.root-type"});
  CHECK(aot_ids(graph, name_of(graph)) == Lines{"warning pickle.root-type"});
  CHECK(aot_ids(pickle_text::pickle(pickle_text::none()), "entry") == Lines{"warning pickle.root-type"});
}

TEST_CASE("a class that a newer torch may have") {
  using namespace pickle_text;
  const std::string bytes = pickle_text::pickle(instance("torch._inductor.output_code", "NewGraph", dict()));
  CHECK(named_graph_ids(store_tests::hash_name('f', 'k'), bytes) == Lines{"info entry.class"});
  const std::string aot = pickle_text::pickle(
      instance("torch._functorch._aot_autograd.aot_autograd_result", "NewResult", dict()));
  CHECK(aot_ids(aot, name_of(aot)) == Lines{"info entry.class"});
}

TEST_CASE("what no pickler writes") {
  const std::string bytes = "\x80\x04" + entry_file("fxgraph-2.6.0-cuda.pkl");
  const std::string key = key_of(bytes);
  CHECK(named_graph_ids(key, bytes) == Lines{"warning pickle.deviation"});
  CHECK(graph_ids(entry_file("fxgraph-2.6.0-cuda.pkl"), bytes) == Lines{"error fxgraph.name"});
}

TEST_CASE("quick looks at names and ends") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  const std::string changed = replaced(bytes, "from math import inf", "from math import tau");
  CHECK(graph_ids(bytes, changed, quick()) == Lines{});
  CHECK(graph_ids(bytes, "", quick()) == Lines{"warning pickle.truncated"});
  CHECK(graph_ids(bytes, bytes.substr(0, bytes.size() - 1), quick()) == Lines{"warning pickle.truncated"});
  CHECK(graph_ids(bytes, "text.", quick()) == Lines{"warning pickle.malformed"});
  GraphTree tree(bytes, "notes");
  CHECK(own_ids(tree.fs, quick()) == Lines{"error fxgraph.name"});
}

TEST_CASE("an entry larger than the limits is skipped, not judged") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  GraphTree tree(bytes, name_of(bytes));
  verify::Options options;
  options.limits.max_entry_bytes = 100;
  const verify::Result result = own_result(tree.fs, options);
  CHECK(result.findings.empty());
  REQUIRE(result.skipped.size() == 1);
  CHECK(result.skipped[0].error.code == ErrorCode::kLimitSize);
}

TEST_SUITE_END();
