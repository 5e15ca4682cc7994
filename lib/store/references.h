#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "store/source.h"

namespace cachetool::store {

/// Number of a unit in its index.
using UnitId = std::uint32_t;

/// What belongs together and would be removed together: an entry file, a module, a compiled kernel with all
/// files of its stem, a Triton directory, an autotune result.
struct Unit {
  enum class Kind : std::uint8_t {
    kFxGraph,
    kAotAutograd,
    kWrapper,       ///< module that an entry names as its wrapper
    kTritonModule,  ///< module that a wrapper defines as a Triton kernel
    kPythonModule,  ///< module that nothing names
    kCppKernel,     ///< `c….cpp`, `.main.cpp`, `.so`, … of one stem
    kGpuBinary,     ///< `c….cubin` and such in a shard
    kIsaProbe,      ///< a stem that torch compiled to find out what the CPU can do; no entry names it
    kTritonDirectory,
    kTritonSupport,  ///< Triton directory without a kernel: launcher, driver library or autotune result
    kBestConfig,
    kAotiDirectory,
  };
  Kind kind = Kind::kPythonModule;
  std::uint32_t root = 0;
  std::uint32_t files = 0;
  std::uint64_t bytes = 0;  ///< st_size of its files, hard links once
  std::uint64_t allocated_bytes = 0;
  std::int64_t newest_mtime_ns = 0;
  std::string path;  ///< below the root: of the file; of the directory; of the stem without what follows its
                     ///< first dot
};

/// "fxgraph", "aotautograd", "wrapper", "triton-module", "module", "cpp-kernel", "gpu-binary", "isa-probe",
/// "triton-directory", "triton-support", "best-config", "aoti-directory".
std::string_view unit_kind_name(Unit::Kind kind);

/// Something that an entry names and that is not in the cache. Often normal: kernels are built again, and
/// bundles carry what Triton's directory may lack.
struct MissingReference {
  UnitId from = 0;
  Unit::Kind kind = Unit::Kind::kPythonModule;
  std::string name;  ///< key, stem or directory name; for a C++ kernel the wrapper's name for it
};

/// Who refers to what in one cache. Built once; memory grows with the number of files, not with their bytes.
class ReferenceIndex {
 public:
  struct Options {
    std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;
    std::uint64_t max_source_bytes = std::uint64_t{64} << 20;
  };

  /// Walks the whole cache (whatever the scope), reads sources and entries on the pool, and links everything.
  /// Single files that can't be read or decoded go to `skipped`.
  static Expected<ReferenceIndex> build(Source& source, ThreadPool& pool, const Options& options);
  static Expected<ReferenceIndex> build(Source& source, ThreadPool& pool) {
    return build(source, pool, Options{});
  }

  std::span<const Unit> units() const { return units_; }
  const Unit& unit(UnitId id) const { return units_[id]; }

  /// The unit that a file or a directory belongs to. `path` is below the root. Entries are found by their
  /// path too.
  std::optional<UnitId> find(std::uint32_t root, std::string_view path) const;
  /// Units by a file's or directory's name alone, wherever they are: for paths of another machine in a
  /// traceback.
  std::vector<UnitId> find_name(std::string_view name) const;

  /// What `unit` refers to directly, each once: an AOTAutograd entry to its graphs' entries; a graph to its
  /// wrapper; a wrapper to its kernels; a Triton module to its autotune results and Triton directories. What
  /// a wrapper that is missing would refer to hangs on the entry.
  std::span<const UnitId> children(UnitId unit) const;
  /// Who refers to `unit` directly, sorted.
  std::span<const UnitId> parents(UnitId unit) const;
  /// Every entry from which `unit` can be reached, sorted; an entry is not its own owner.
  std::vector<UnitId> owners(UnitId unit) const;
  /// Bytes of what only this entry refers to, without its own: for an AOTAutograd entry also its graphs where
  /// no other entry names them, and what only those refer to. 0 for what is no entry.
  std::uint64_t held_bytes(UnitId entry) const;
  /// Modules, kernels, autotune results and Triton directories that no entry reaches, sorted.
  std::vector<UnitId> orphans() const;

  const std::vector<MissingReference>& missing() const { return missing_; }
  const std::vector<Skipped>& skipped() const { return skipped_; }

 private:
  friend class ReferenceBuilder;
  void finish(std::vector<std::pair<UnitId, UnitId>> links);
  void mark_reached();
  void compute_held();

  std::vector<Unit> units_;
  std::vector<std::uint32_t> child_begin_;
  std::vector<UnitId> children_;
  std::vector<std::uint32_t> parent_begin_;
  std::vector<UnitId> parents_;
  std::vector<bool> reached_;  ///< from some entry
  std::vector<std::uint64_t> held_;
  std::vector<MissingReference> missing_;
  std::vector<Skipped> skipped_;
  std::vector<RootRole> roles_;                                   ///< of each root
  std::unordered_map<std::string, UnitId> by_path_;               ///< see unit_key
  std::unordered_map<std::string, std::vector<UnitId>> by_name_;  ///< last component of Unit::path
};

}  // namespace cachetool::store
