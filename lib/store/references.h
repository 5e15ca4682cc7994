#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "store/entry_links.h"
#include "store/source.h"

namespace cachetool::store {

/// Number of a unit in its index.
using UnitId = std::uint32_t;

/// What belongs together and would be removed together: an entry file, a module, a compiled kernel with all
/// files of its stem and its lock, a Triton directory, an autotune result.
struct Unit {
  enum class Kind : std::uint8_t {
    kFxGraph,
    kAotAutograd,
    kWrapper,
    kTritonModule,
    kPythonModule,
    kCppKernel,
    kGpuBinary,
    kTritonDirectory,
    kBestConfig,
    kOther
  };
  Kind kind = Kind::kOther;
  std::uint32_t root = 0;
  std::uint32_t files = 0;
  std::uint64_t bytes = 0;  ///< st_size of its files, hard links once
  std::uint64_t allocated_bytes = 0;
  std::string path;  ///< of the file, the stem's first file, or the directory; below the root
};

/// "fxgraph", "aotautograd", "wrapper", "triton-module", "module", "cpp-kernel", "gpu-binary",
/// "triton-directory", "best-config", "other".
std::string_view unit_kind_name(Unit::Kind kind);

/// Something that an entry names and that is not in the cache.
struct MissingReference {
  UnitId from = 0;
  Unit::Kind kind = Unit::Kind::kOther;
  std::string name;  ///< key, file name or directory name, as far as it can be known
};

/// Who refers to what in one cache. Built once; memory grows with the number of files, not with their bytes.
class ReferenceIndex {
 public:
  struct Options {
    std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;
    std::uint64_t max_source_bytes = std::uint64_t{64} << 20;
  };

  /// Walks the cache, reads sources and entries (on the pool) and links everything.
  static Expected<ReferenceIndex> build(Source& source, ThreadPool& pool, const Options& options);

  std::span<const Unit> units() const { return units_; }
  /// The unit of an entry; empty when the entry came after the index was built.
  std::optional<UnitId> find(const KeyRef& key, std::string_view leaf) const;
  /// The unit that a file or directory belongs to. `path` is below the root.
  std::optional<UnitId> find_path(std::uint32_t root, std::string_view path) const;

  /// What `unit` refers to directly, in order: graphs, wrapper, kernels, autotune results, Triton
  /// directories.
  std::span<const UnitId> children(UnitId unit) const;
  /// Who refers to `unit` directly.
  std::span<const UnitId> parents(UnitId unit) const;
  /// Every entry from which `unit` can be reached, FX graphs and AOTAutograd entries, sorted.
  std::vector<UnitId> owners(UnitId unit) const;
  /// Bytes of what only this entry refers to: for an AOTAutograd entry also its graphs where no other entry
  /// names them; without the entry's own bytes.
  std::uint64_t held_bytes(UnitId entry) const;
  /// Units that no entry reaches and that an entry could refer to (no locks, no PGO state, no headers).
  std::vector<UnitId> orphans() const;

  const std::vector<MissingReference>& missing() const { return missing_; }
  /// Files that the walk left out, and entries that couldn't be decoded.
  const std::vector<Skipped>& skipped() const { return skipped_; }

 private:
  friend class ReferenceBuilder;
  void finish();

  std::vector<Unit> units_;
  std::vector<std::uint32_t> child_begin_, parent_begin_;
  std::vector<UnitId> children_, parents_;
  std::vector<std::uint64_t> held_;
  std::vector<MissingReference> missing_;
  std::vector<Skipped> skipped_;
  std::unordered_map<std::string, UnitId> by_path_;
};

}  // namespace cachetool::store
