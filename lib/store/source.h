#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "store/artifact.h"
#include "store/cache_set.h"
#include "store/entry_ref.h"

namespace cachetool::store {

struct WalkOptions {
  bool with_stat = true;     ///< fill Artifact::stat (one more system call per file)
  bool companions = false;   ///< also roots that torch keeps outside the one asked for
  bool own_state = false;    ///< also `.cachetool/`
  bool whole_roots = false;  ///< ignore CacheSet::scope
  std::uint32_t max_depth = 64;
};

/// Receives what a walk finds, in order of path within each root.
class ArtifactSink {
 public:
  virtual ~ArtifactSink() = default;
  /// Returns false to stop the walk.
  virtual bool artifact(const Artifact& artifact) = 0;
  virtual void skipped(const Skipped& skipped) = 0;
};

/// Where artefacts come from: a directory now, archives and mega-caches later.
class Source {
 public:
  struct Facts {
    bool live = false;      ///< may change while it is read
    bool has_names = true;  ///< files have the names that torch gave them
    bool has_times = true;
  };

  virtual ~Source() = default;
  virtual Facts facts() const = 0;
  virtual const CacheSet& cache() const = 0;
  /// The same cache without its scope; itself when it has none.
  virtual Source& whole() = 0;

  /// Every regular file, in a deterministic order, whatever happens to single ones (they go to
  /// `sink.skipped`). Fails only when a root itself can't be listed. Memory: one listing per level.
  virtual Status walk(const WalkOptions& options, ArtifactSink& sink) = 0;

  /// Every key that has a directory, sorted by store, kind (FX graphs first) and key; without opening the
  /// key's directories. Places that can't be listed go to `skipped`. About 40 bytes a key.
  virtual std::vector<KeyRef> keys(std::vector<Skipped>& skipped) = 0;

  /// The candidates of one key in the order in which torch tries them (bytewise by name). Safe from several
  /// threads. kNoSuchKey or kVanished when it has no directory (any more).
  virtual Expected<KeyListing> open_key(const KeyRef& key) = 0;

  /// Reads one entry whole into `buffer` (kept for reuse). Safe from several threads.
  virtual Expected<FileStat> read_entry(const EntryRef& entry, std::uint64_t max_bytes,
                                        std::string& buffer) = 0;

  /// Reads a file by its place. `path` is below the root.
  virtual Expected<FileStat> read_file(std::uint32_t root, std::string_view path, std::uint64_t max_bytes,
                                       std::string& buffer) = 0;
  virtual Expected<FileStat> stat_file(std::uint32_t root, std::string_view path) = 0;
  /// Whether the directory at `path` below the root has nothing in it. kNotFound when it isn't there.
  virtual Expected<bool> is_empty_directory(std::uint32_t root, std::string_view path) = 0;
};

/// A cache on disk. `fs` must outlive it.
std::unique_ptr<Source> make_directory_source(FileSystem& fs, CacheSet set);

}  // namespace cachetool::store
