#include "store/references.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/hash.h"
#include "store/entry_links.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;

namespace {

std::string le32(std::size_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

// Pieces of protocol 4 pickles.
std::string text(std::string_view value) {
  return "X" + le32(value.size()) + std::string(value);
}
std::string none() {
  return "N";
}

/// An instance of `module.name` with these attributes (name, pickled value).
std::string instance(std::string_view module, std::string_view name,
                     const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::string bytes = text(module) + text(name) + "\x93)\x81}(";
  for (const auto& [key, value] : attributes) bytes += text(key) + value;
  return bytes + "ub";
}

std::string pickled(const std::string& value) {
  return "\x80\x04" + value + ".";
}

std::string graph_value(const std::string& cache_key, const std::string& source_code) {
  return instance(
      "torch._inductor.output_code", "CompiledFxGraph",
      {{"cache_key", text(cache_key)}, {"source_code", text(source_code)}, {"_triton_bundle", none()}});
}

std::string aot_entry(const std::vector<std::string>& graph_keys) {
  const std::string module = "torch._functorch._aot_autograd.autograd_cache";
  const auto part = [&](const char* name, std::size_t i) {
    return i < graph_keys.size() ? instance(module, name, {{"fx_graph_cache_key", text(graph_keys[i])}})
                                 : none();
  };
  return pickled(
      instance(module, "AOTAutogradCacheEntry",
               {{"compiled_fw", part("CompiledForward", 0)}, {"compiled_bw", part("CompiledBackward", 1)}}));
}

const std::string kTritonText = "\nimport triton\n@triton.jit\ndef k(): pass\n";
const std::string kCppText = "\nextern \"C\" void kernel(float* p) { p[0] = 1; }\n";
const std::string kTritonModule = torch::code_hash(torch::python_strip(kTritonText)).str();
const std::string kDirectory = repeated('D', 52);
const std::string kLibrary = hash_name('c', 'l');

std::string wrapper_text(std::string_view label) {
  return "# AOT ID: ['" + std::string(label) + "']\nasync_compile = AsyncCompile()\n" +
         "triton_k = async_compile.triton('triton_k', '''" + kTritonText + "''', device_str='cuda')\n" +
         "cpp_k = async_compile.cpp_pybinding(['float*'], '''" + kCppText + "''')\n";
}

/// Two graphs with wrappers of their own that share both kernels; one AOTAutograd entry names the first.
struct Tree {
  MemoryFileSystem fs;
  std::string first = hash_name('f', 'b');
  std::string second = hash_name('f', 'd');
  std::string aot = hash_name('a', 'b');
  std::string first_entry, second_entry, aot_path, first_wrapper, second_wrapper, config;

  Tree() {
    first_entry = add_graph(first, "0_forward", first_wrapper);
    second_entry = add_graph(second, "1_inference", second_wrapper);
    aot_path = "aotautograd/" + aot + "/entry";
    fs.add_file("/cache/" + aot_path, aot_entry({first}));
    fs.add_file("/cache/" + shard_file(kTritonModule, "py"), kTritonText);
    fs.add_file("/cache/" + shard_file(kLibrary, "main.cpp"),
                kCppText + "\n// Python bindings to call kernel():\nstuff");
    fs.add_file("/cache/" + shard_file(kLibrary, "main.so"), "library");
    fs.add_file("/cache/locks/" + kLibrary + ".lock", "");
    fs.add_file("/cache/triton/0/" + kDirectory + "/triton_k.ttir",
                "#loc = loc(\"/elsewhere/" + shard_file(kTritonModule, "py") + "\":3:0)\n");
    fs.add_file("/cache/triton/0/" + kDirectory + "/triton_k.cubin", "cubin");
    fs.add_file("/cache/triton/0/" + repeated('L', 52) + "/__triton_launcher.so", "launcher");
    config = kTritonModule.substr(1, 2) + "/" + to_hex(sha256(kTritonModule + ".py:")) + ".best_config";
    fs.add_file("/cache/" + config, "{\"num_warps\": 4}");
    fs.add_file("/cache/" + shard_file(hash_name('c', 'o'), "py"), "left over");
    fs.add_file("/cache/" + shard_file(hash_name('c', 'p'), "cpp"), "void __avx512_chk_kernel() {}");
  }

  std::string add_graph(const std::string& key, const char* label, std::string& wrapper) {
    const std::string source = wrapper_text(label);
    const std::string module = torch::code_hash(torch::python_strip(source)).str();
    wrapper = shard_file(module, "py");
    fs.add_file("/cache/" + wrapper, source);
    const std::string path = fx_directory(key) + "/" + leaf_name('x');
    fs.add_file("/cache/" + path, pickled(graph_value(module, source)));
    return path;
  }

  ReferenceIndex index() {
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    ThreadPool pool(2);
    auto built = ReferenceIndex::build(*source, pool);
    REQUIRE(built);
    return std::move(*built);
  }
};

UnitId at(const ReferenceIndex& index, const std::string& path) {
  const auto found = index.find(0, path);
  CAPTURE(path);
  REQUIRE(found);
  return *found;
}

std::vector<std::string> paths(const ReferenceIndex& index, std::span<const UnitId> units) {
  std::vector<std::string> result;
  for (const UnitId id : units) result.push_back(index.unit(id).path);
  return result;
}

std::string without_suffix(const std::string& path) {
  return path.substr(0, path.find('.'));
}

}  // namespace

TEST_SUITE("store/references") {
  TEST_CASE("the chain from an AOTAutograd entry to the autotune result") {
    Tree tree;
    const ReferenceIndex index = tree.index();
    CHECK(index.missing().empty());
    CHECK(index.skipped().empty());
    CHECK(paths(index, index.children(at(index, tree.aot_path))) == std::vector{tree.first_entry});
    CHECK(paths(index, index.children(at(index, tree.first_entry))) ==
          std::vector{without_suffix(tree.first_wrapper)});
    const UnitId wrapper = at(index, tree.first_wrapper);
    CHECK(index.unit(wrapper).kind == Unit::Kind::kWrapper);
    CHECK(paths(index, index.children(wrapper)) ==
          std::vector{without_suffix(shard_file(kTritonModule, "py")),
                      without_suffix(shard_file(kLibrary, "so"))});
    const UnitId module = at(index, shard_file(kTritonModule, "py"));
    CHECK(index.unit(module).kind == Unit::Kind::kTritonModule);
    const auto below = paths(index, index.children(module));
    CHECK(std::find(below.begin(), below.end(), "triton/0/" + kDirectory) != below.end());
    CHECK(std::find(below.begin(), below.end(), tree.config) != below.end());
    CHECK(below.size() == 2);
  }

  TEST_CASE("files of one unit are found by any of their paths") {
    Tree tree;
    const ReferenceIndex index = tree.index();
    const UnitId library = at(index, shard_file(kLibrary, "main.so"));
    CHECK(index.unit(library).files == 2);
    CHECK(index.unit(library).bytes ==
          kCppText.size() + std::string("\n// Python bindings to call kernel():\nstuff").size() + 7);
    CHECK(at(index, shard_file(kLibrary, "main.cpp")) == library);
    CHECK(at(index, "locks/" + kLibrary + ".lock") == library);
    CHECK(at(index, "triton/0/" + kDirectory) == at(index, "triton/0/" + kDirectory + "/triton_k.cubin"));
    CHECK(at(index, "triton/0/" + kDirectory + "/") == at(index, "triton/0/" + kDirectory));
    CHECK_FALSE(index.find(0, "fxgraph"));
    CHECK_FALSE(index.find(7, tree.first_entry));
    CHECK(index.find_name(kTritonModule + ".py") == std::vector{at(index, shard_file(kTritonModule, "py"))});
    CHECK(index.find_name(kDirectory).size() == 1);
    CHECK(index.find_name("nothing").empty());
  }

  TEST_CASE("owners are all entries that reach a unit") {
    Tree tree;
    const ReferenceIndex index = tree.index();
    std::vector<UnitId> all{at(index, tree.aot_path), at(index, tree.first_entry),
                            at(index, tree.second_entry)};
    std::sort(all.begin(), all.end());
    CHECK(index.owners(at(index, shard_file(kLibrary, "main.so"))) == all);
    CHECK(index.owners(at(index, tree.config)) == all);
    CHECK(index.owners(at(index, tree.second_wrapper)) == std::vector{at(index, tree.second_entry)});
    CHECK(index.owners(at(index, tree.aot_path)).empty());
  }

  TEST_CASE("an entry holds what nobody else refers to") {
    Tree tree;
    const ReferenceIndex index = tree.index();
    const auto bytes = [&](const std::string& path) { return index.unit(at(index, path)).bytes; };
    CHECK(index.held_bytes(at(index, tree.second_entry)) == bytes(tree.second_wrapper));
    CHECK(index.held_bytes(at(index, tree.first_entry)) == bytes(tree.first_wrapper));
    CHECK(index.held_bytes(at(index, tree.aot_path)) == bytes(tree.first_entry) + bytes(tree.first_wrapper));

    tree.fs.remove("/cache/" + tree.second_entry);
    tree.fs.add_file("/cache/aotautograd/" + hash_name('a', 'z') + "/entry", aot_entry({tree.first}));
    const ReferenceIndex shared = tree.index();
    // Named twice now: no AOTAutograd entry holds the graph, the graph holds everything below it.
    CHECK(shared.held_bytes(at(shared, tree.aot_path)) == 0);
    const std::uint64_t kernels = bytes(shard_file(kLibrary, "so")) + bytes(shard_file(kTritonModule, "py")) +
                                  bytes(tree.config) + bytes("triton/0/" + kDirectory);
    CHECK(shared.held_bytes(at(shared, tree.first_entry)) == bytes(tree.first_wrapper) + kernels);
  }

  TEST_CASE("orphans are what no entry reaches; probes, launchers and locks are none") {
    Tree tree;
    const ReferenceIndex index = tree.index();
    CHECK(paths(index, index.orphans()) ==
          std::vector{without_suffix(shard_file(hash_name('c', 'o'), "py"))});
    tree.fs.remove("/cache/" + tree.first_entry);
    tree.fs.remove("/cache/" + tree.second_entry);
    const ReferenceIndex bare = tree.index();
    CHECK(bare.orphans().size() ==
          7);  // two wrappers, module, library, directory, result, and the one from before
    REQUIRE(bare.missing().size() == 1);
    CHECK(bare.missing()[0].name == tree.first);
    CHECK(bare.missing()[0].kind == Unit::Kind::kFxGraph);
  }

  TEST_CASE("what is named and not there is reported, and hangs on the entry") {
    Tree tree;
    tree.fs.remove("/cache/" + tree.first_wrapper);
    tree.fs.remove("/cache/" + shard_file(kLibrary, "main.cpp"));
    const ReferenceIndex index = tree.index();
    std::vector<std::string> names;
    for (const MissingReference& missing : index.missing()) {
      names.push_back(std::string(unit_kind_name(missing.kind)) + " " + missing.name);
    }
    std::sort(names.begin(), names.end());
    const std::string wrapper = tree.first_wrapper.substr(3, 52);
    CHECK(names == std::vector<std::string>{"cpp-kernel cpp_k", "cpp-kernel cpp_k", "wrapper " + wrapper});
    CHECK(paths(index, index.children(at(index, tree.first_entry))) ==
          std::vector{without_suffix(shard_file(kTritonModule, "py"))});
    // A library without its source can't be told apart from another: it is nobody's, and says so as an
    // orphan.
    CHECK(index.owners(at(index, shard_file(kLibrary, "main.so"))).empty());
  }

  TEST_CASE("entries that are damaged or vanish are noted, the others are linked") {
    Tree tree;
    tree.fs.add_file("/cache/" + tree.second_entry, "\x80\x04 rubbish");
    const ReferenceIndex index = tree.index();
    REQUIRE(index.skipped().size() == 1);
    CHECK(index.skipped()[0].path == tree.second_entry);
    CHECK(index.owners(at(index, shard_file(kLibrary, "main.so"))).size() == 2);
  }

  TEST_CASE("names in entries may be cyclic") {
    // Two entries that each claim the other's kernel module as their wrapper.
    MemoryFileSystem fs;
    const std::string a_text = "def a(): pass";
    const std::string b_text = "def b(): pass";
    const std::string a = torch::code_hash(a_text).str();
    const std::string b = torch::code_hash(b_text).str();
    fs.add_file("/cache/" + shard_file(a, "py"), a_text);
    fs.add_file("/cache/" + shard_file(b, "py"), b_text);
    const auto defines = [](const std::string& body) {
      return "async_compile = AsyncCompile()\nk = async_compile.triton('k', '''" + body +
             "''', device_str='cuda')\n";
    };
    fs.add_file("/cache/" + fx_directory(hash_name('f', 'b')) + "/" + leaf_name('x'),
                pickled(graph_value(a, defines(b_text))));
    fs.add_file("/cache/" + fx_directory(hash_name('f', 'd')) + "/" + leaf_name('x'),
                pickled(graph_value(b, defines(a_text))));
    fs.add_file("/cache/" + fx_directory(hash_name('f', 'e')) + "/" + leaf_name('x'),
                pickled(graph_value(a, defines(a_text))));
    const auto source = open_source(fs, "/cache");
    REQUIRE(source);
    ThreadPool pool(1);
    const auto index = ReferenceIndex::build(*source, pool);
    REQUIRE(index);
    CHECK(index->owners(at(*index, shard_file(a, "py"))).size() == 3);
    CHECK(index->orphans().empty());
    CHECK(index->held_bytes(at(*index, fx_directory(hash_name('f', 'b')) + "/" + leaf_name('x'))) == 0);
  }

  TEST_CASE("fingerprints match a literal with the file that was made from it") {
    CHECK(source_fingerprint(kCppText) ==
          file_fingerprint(kCppText + "\n// Python bindings to call kernel():\n"));
    CHECK(source_fingerprint("a") == file_fingerprint("\n a \n"));
    CHECK(source_fingerprint("a") != file_fingerprint("b\n// Python bindings to call"));
  }
}
