#pragma once

#include <string>
#include <vector>

#include "verify/cache_index.h"
#include "verify/reference_checks.h"

namespace cachetool::verify {

/// What the parts of the reference checks share.
struct ReferenceContext {
  FileSystem& fs;
  const CacheFacts& cache;
  const CacheIndex& index;
  RelationReport& report;

  const Inventory& inventory() const { return cache.inventory; }
};

/// The entries that are to be judged: read, in scope and lying in a store (a copy somewhere else has nothing
/// around it).
std::vector<FileId> entries_to_judge(const ReferenceContext& context);

/// A report on an entry's file, with its release and key.
FileReport report_on_entry(const ReferenceContext& context, FileId entry);

/// "a", "a and b", "a, b and 3 more": at most three.
std::string name_some(const std::vector<std::string>& names);

// The parts, each over all entries in scope.
void check_graph_references(const ReferenceContext& context);  ///< reference_graphs.cpp
void check_modules(const ReferenceContext& context);           ///< reference_modules.cpp
void check_cpp_kernels(const ReferenceContext& context);       ///< reference_cpp.cpp
void check_triton_kernels(const ReferenceContext& context);    ///< reference_triton.cpp
void check_tuning(const ReferenceContext& context);            ///< reference_tuning.cpp
void check_result_names(const ReferenceContext& context);      ///< reference_results.cpp

/// Compares what files name of each other with what is there. A RelationCheck.
void check_references(FileSystem& fs, const CacheFacts& cache, RelationReport& report);

}  // namespace cachetool::verify
