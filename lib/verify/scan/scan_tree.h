#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "store/environment.h"
#include "store/source.h"
#include "verify/ownership.h"
#include "verify/scan/scan_bytes.h"

namespace cachetool::verify {

/// A file that was scanned.
struct ScannedFile {
  std::uint32_t root = 0;                                    ///< index into CacheSet::roots
  std::string path;                                          ///< below the root
  store::ArtifactKind kind = store::ArtifactKind::kUnknown;  ///< by its place; kUnknown outside caches
  FileScan scan;
};

/// How much was looked at, and with what result.
struct ScanCoverage {
  std::uint64_t files = 0;           ///< looked at
  std::uint64_t bytes = 0;           ///< their sizes
  std::uint64_t expanded_bytes = 0;  ///< what they unpacked to
  std::uint64_t pickles = 0;         ///< judged
  std::uint64_t expressions = 0;     ///< parsed
  std::uint64_t unscanned_parts = 0;
  std::uint64_t unscanned_bytes = 0;
  std::map<ScanVerdict, std::uint64_t> verdicts;  ///< files of each
  std::uint64_t carrying_code = 0;                ///< files that carry code
  std::map<std::string_view, CodeItem> code;      ///< by name, over all files
  std::uint64_t not_scanned = 0;  ///< files and places that were left out, without those that vanished

  std::uint64_t moved_aside = 0;  ///< files in cachetool's own quarantine and trash, not scanned

  std::uint64_t files_of(ScanVerdict verdict) const;
  void add(const FileScan& scan);
  void add(const ScanCoverage& other);
};

/// What one argument of scan stands for.
struct ScanTarget {
  store::CacheSet set;
  bool is_cache =
      true;  ///< false: a directory or file that is none; every file of it is scanned by its content
};

struct TreeScan {
  ScanCoverage coverage;
  std::vector<store::Skipped> skipped;  ///< not looked at, and why
  std::vector<OwnerFinding> owners;
};

struct TreeScanOptions {
  ScanLimits limits;
  bool owners = true;  ///< look at owners and modes too
  Loader loader;
  /// Told the number of files done; false ends the scan with kInterrupted.
  std::function<bool(std::uint64_t files)> progress;
};

/// Resolves an argument: a cache or a part of one, any other directory, any file. A link in its last place is
/// followed. No path: the cache that the environment names. Errors: kNotFound, kPermission, kNotRegular.
Expected<ScanTarget> resolve_scan_target(FileSystem& fs, const store::Environment& environment,
                                         std::optional<std::string_view> path);

/// How a file of that kind at that place is scanned.
ScanHints hints_for(store::ArtifactKind kind, std::string_view path);

/// Scans every file of the target in parallel and hands each to `sink`, in the order of the walk, on the
/// calling thread; a sink that returns false ends it. A file that can't be read, is damaged or dangerous
/// never stops the run. Memory: that of the files being scanned (one large one at a time) and of the findings
/// about owners. Errors: a root that can't be listed; kInterrupted.
Expected<TreeScan> scan_tree(FileSystem& fs, const ScanTarget& target, ThreadPool& pool,
                             const TreeScanOptions& options,
                             const std::function<bool(const ScannedFile&)>& sink);

}  // namespace cachetool::verify
