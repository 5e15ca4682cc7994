#pragma once

#include <span>
#include <vector>

#include "base/file_system.h"
#include "verify/facts.h"
#include "verify/file_report.h"
#include "verify/inventory.h"
#include "verify/options.h"

namespace cachetool::verify {

/// Everything that is known of a cache once its files were read.
struct CacheFacts {
  const Inventory& inventory;
  std::span<const Facts> facts;        ///< by FileId
  std::span<const std::uint8_t> read;  ///< by FileId: 1 when the file was read without an error
  const Options& options;
  std::span<const std::uint64_t> contents = {};  ///< by FileId, of files of Triton directories: content_mark
                                                 ///< as a bundle would have it; 0 where it isn't known

  /// The facts of that type; null when the file has others or none.
  template <class T>
  const T* get(FileId id) const {
    return std::get_if<T>(&facts[id]);
  }
  const EntryFacts* entry(FileId id) const {
    const auto* held = std::get_if<std::unique_ptr<EntryFacts>>(&facts[id]);
    return held == nullptr ? nullptr : held->get();
  }
};

/// What relations say, each finding with its own place.
class RelationReport {
 public:
  /// A report on one place; its findings are added when it is handed back to `add`.
  void add(FileReport report) {
    merge_coverage(coverage, report.coverage());
    for (Finding& finding : report.take_findings()) findings.push_back(std::move(finding));
  }
  std::vector<Finding> findings;
  CoverageTable coverage;
};

/// Compares files with each other. Runs once, on one thread, in the order of the list. Linear (up to a
/// logarithm) in the number of files and links.
using RelationCheck = void (*)(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

std::span<const RelationCheck> relation_checks();

}  // namespace cachetool::verify
