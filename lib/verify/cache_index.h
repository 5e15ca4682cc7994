#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "verify/cache_facts.h"

namespace cachetool::verify {

/// Directory with fxgraph/ and aotautograd/ in it. Entries name graphs, modules and C++ kernels of their own
/// store only.
struct StorePlace {
  std::uint32_t root = 0;
  std::string path;  ///< below the root; empty for the root itself

  friend auto operator<=>(const StorePlace&, const StorePlace&) = default;
};

/// Looks things up by the names that files call each other by. Made once from what was read of a cache;
/// linear in its files.
class CacheIndex {
 public:
  explicit CacheIndex(const CacheFacts& cache);

  /// The store of an entry's file, from its place: `fxgraph/<shard>/<key>/<leaf>`,
  /// `aotautograd/<key>/<leaf>`.
  StorePlace store_of_entry(FileId entry) const;
  /// The store of a file in a shard directory.
  StorePlace store_of_shard_file(FileId file) const;

  /// Every candidate of an FX graph key, in the order in which torch tries them.
  std::vector<FileId> graphs(const StorePlace& store, const torch::HashName& key) const;
  /// `<stem>.py`.
  std::optional<FileId> module(const StorePlace& store, const torch::HashName& stem) const;
  /// Files of `<stem>.*` beside `file`.
  std::vector<FileId> stem_files(FileId file) const;

  /// C++ sources with that kernel text; probes for CPU extensions are left out.
  std::span<const FileId> cpp_sources(const StorePlace& store, const torch::HashName& fingerprint) const;
  /// Shared objects of a store whose source isn't there.
  std::size_t libraries_without_source(const StorePlace& store) const;
  /// C++ sources of a store that couldn't be read.
  std::size_t unread_sources(const StorePlace& store) const;
  /// Whether a store has any C++ source or shared object of a kernel.
  bool has_cpp_kernels(const StorePlace& store) const;

  /// Triton's kernel directories of that name: one per root and device.
  std::span<const DirectoryId> triton_directories(std::string_view name) const;
  /// Names of the Triton directories whose texts say that they were compiled from this module.
  std::span<const std::string> directories_of_module(const torch::HashName& module) const;

  enum class Tuned : std::uint8_t {
    kNo,
    kYes,
    kUnknown,  ///< a result in the module's shard may be its own: its name depends on an unknown build
  };
  /// Whether an autotune result of the module is there.
  Tuned is_tuned(FileId module) const;
  /// The autotune results that are known to be the module's.
  std::span<const FileId> results_of_module(FileId module) const;

 private:
  struct Store {
    bool has_cpp_kernels = false;
    std::size_t libraries_without_source = 0;
    std::size_t unread_sources = 0;
  };

  void add(FileId id);
  void add_cpp_source(FileId id, const CppSourceFacts& source);
  void add_unread_source(FileId id);
  void add_library(FileId id);
  void add_triton_text(FileId id, const TritonTextFacts& text);
  void link_best_configs();
  void claim_named_configs(FileId module, std::unordered_set<FileId>& unclaimed);

  const CacheFacts& cache_;
  const Inventory& inventory_;
  std::unordered_map<std::string, Store> stores_;                     // place of the store
  std::unordered_map<std::string, std::vector<FileId>> cpp_sources_;  // place of the store, fingerprint
  std::unordered_map<std::string, std::vector<DirectoryId>> triton_;  // name
  std::map<torch::HashName, std::vector<std::string>> module_directories_;
  std::map<std::string, torch::HashName, std::less<>> module_of_directory_;  // name
  std::unordered_map<FileId, std::vector<FileId>> results_;                  // of a module
  std::unordered_set<DirectoryId> unclaimed_shards_;  // with a result that no module could be found for
};

/// The name of an entry as commands take it: KEY/LEAF.
std::string entry_name(const Inventory& inventory, FileId entry);

}  // namespace cachetool::verify
