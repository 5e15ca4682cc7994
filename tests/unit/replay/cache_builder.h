#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../store/trees.h"
#include "graph_builder.h"
#include "store/lookup.h"

/// Caches of hand-made entries in memory.
namespace graph_builder {

inline const std::string kForwardKey = store_tests::hash_name('f', 'b');
inline const std::string kBackwardKey = store_tests::hash_name('f', 'c');
inline const std::string kAotKey = store_tests::hash_name('a', 'd');

/// compiled_fw or compiled_bw of an AOTAutograd entry: the graph `key` with the guards recorded, as opcodes.
inline std::string graph_reference(std::string_view name, ReleaseFamily family, std::string_view key,
                                   const std::string& guards = pickle_text::none()) {
  using namespace pickle_text;
  if (family < ReleaseFamily::k2_8) {
    return instance("torch._functorch._aot_autograd.autograd_cache", name,
                    dict(text("fx_graph_cache_key"), text(key)));
  }
  return instance(
      "torch._functorch._aot_autograd.autograd_cache", name,
      dict(text("fx_graph_cache_info"), tuple(text(key), list()), text("fx_graph_guard_expr"), guards));
}

inline std::string aot_entry(const std::string& forward, const std::string& backward) {
  using namespace pickle_text;
  return pickle_text::pickle(instance("torch._functorch._aot_autograd.autograd_cache",
                                      "AOTAutogradCacheEntry",
                                      dict(text("compiled_fw"), forward, text("compiled_bw"), backward)));
}

/// A cache below /cache.
class CacheBuilder {
 public:
  void add_graph(const std::string& key, const std::string& pickle, char leaf = 'l') {
    add_file(key, store_tests::leaf_name(leaf), pickle);
  }
  void add_file(const std::string& key, const std::string& name, const std::string& bytes) {
    fs_.add_file("/cache/" + store_tests::fx_directory(key) + "/" + name, bytes);
  }
  void add_aot(const std::string& key, const std::string& pickle) {
    fs_.add_file("/cache/aotautograd/" + key + "/" + store_tests::leaf_name('l'), pickle);
  }
  void add_aot_file(const std::string& key, const std::string& name, const std::string& bytes) {
    fs_.add_file("/cache/aotautograd/" + key + "/" + name, bytes);
  }
  cachetool::MemoryFileSystem& files() { return fs_; }
  /// The whole cache, or the part of it at `path` below /cache. Opened once.
  cachetool::store::Source& source(const std::string& path = "") {
    if (!source_) source_ = store_tests::open_source(fs_, "/cache" + path);
    REQUIRE(source_);
    return *source_;
  }
  cachetool::store::EntryRef entry(const std::string& key) {
    const auto found = cachetool::store::lookup(source(), key);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    return found->front();
  }

 private:
  cachetool::MemoryFileSystem fs_;
  std::unique_ptr<cachetool::store::Source> source_;
};

}  // namespace graph_builder
