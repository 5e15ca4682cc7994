#pragma once

#include <vector>

#include "verify/cache_facts.h"
#include "verify/finding.h"
#include "verify/inventory.h"
#include "verify/options.h"

namespace cachetool::verify {

/// Whether the user asked about a part of the cache: a place in it, or entries.
bool is_scoped(const store::CacheSet& cache, const Options& options);

/// Sets Inventory::File::in_scope to what the user asked about itself.
void mark_asked(Inventory& inventory, const Options& options);

/// Files that tell what leads where: entries in scope, C++ sources, texts of Triton kernels, autotune
/// results.
std::vector<FileId> files_to_follow(const Inventory& inventory);

/// Takes the graphs into scope that AOTAutograd entries in scope name; those that weren't before, to be read.
std::vector<FileId> take_in_graphs(const CacheFacts& cache, Inventory& inventory);

/// Takes into scope what entries and kernel modules in scope lead to: modules, C++ kernels with all files of
/// their stem, Triton directories, autotune results.
void take_in_kernels(const CacheFacts& cache, Inventory& inventory);

/// Whether a finding is about something in scope.
bool concerns_scope(const Inventory& inventory, const Finding& finding);

}  // namespace cachetool::verify
