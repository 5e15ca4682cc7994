#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "store/entry_links.h"
#include "store/references.h"
#include "store/unit_path.h"

namespace cachetool::store {

/// Key of a place in ReferenceIndex's tables: root and path below it.
std::string place_key(std::uint32_t root, std::string_view path);

/// Fills a ReferenceIndex: collects units on a walk, reads what links depend on, resolves them.
class ReferenceBuilder final : private ArtifactSink {
 public:
  ReferenceBuilder(Source& source, ThreadPool& pool, const ReferenceIndex::Options& options)
      : source_(source.whole()), pool_(pool), options_(options) {}

  Expected<ReferenceIndex> build();

 private:
  /// A file that has to be read to know what it links to.
  struct Pending {
    UnitId unit;
    std::string path;
  };
  using UnitsByKey = std::unordered_map<std::string, std::vector<UnitId>>;

  // The walk (reference_builder.cpp).
  bool artifact(const Artifact& artifact) override;
  void skipped(const Skipped& skipped) override { index_.skipped_.push_back(skipped); }
  UnitId unit_for(std::uint32_t root, const UnitPlace& place);
  void remember_to_read(const Artifact& artifact, UnitId unit);

  // What kernel files say about each other (reference_kernels.cpp).
  void read_sources();
  void read_triton_directories();
  void read_best_configs();
  void link_best_configs_by_name();
  void link_best_configs_by_shard();
  void link_gpu_binaries();

  // Entries (reference_builder.cpp).
  void read_entries();
  void link_entry(UnitId entry, const EntryLinks& links);
  void link_graph(UnitId entry, const std::string& store, const GraphLinks& graph);

  /// Reads files on the pool; `use(i, text)` runs in order on this thread. Files that can't be read are
  /// noted.
  void read_each(const std::vector<Pending>& files,
                 const std::function<void(std::size_t, std::string_view)>& use);

  const Unit& unit(UnitId id) const { return index_.units_[id]; }
  std::optional<UnitId> find_stem(const std::string& store, const torch::HashName& hash) const;
  void link(UnitId from, UnitId to) {
    if (from != to) links_.emplace_back(from, to);
  }
  void miss(UnitId from, Unit::Kind kind, std::string name) {
    index_.missing_.push_back({from, kind, std::move(name)});
  }

  Source& source_;
  ThreadPool& pool_;
  ReferenceIndex::Options options_;
  ReferenceIndex index_;
  std::vector<std::pair<UnitId, UnitId>> links_;

  std::vector<Pending> sources_;
  std::vector<Pending> triton_texts_;
  std::vector<Pending> triton_binaries_;
  std::vector<Pending> best_configs_;
  std::vector<Pending> gpu_binaries_;
  UnitsByKey by_fingerprint_;    // store and fingerprint → C++ kernels
  UnitsByKey by_key_;            // store and key → entries
  UnitsByKey modules_of_shard_;  // shard directory → Python modules
  std::unordered_map<UnitId, UnitId>
      module_of_directory_;  // Triton directory → the module it was compiled from
  std::unordered_set<UnitId> linked_configs_;
  std::unordered_set<std::string> hard_links_;  // device and inode of files with several names
};

}  // namespace cachetool::store
