#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "store/cache_set.h"
#include "store/entry_row.h"

namespace cachetool::store {

// The words for an entry's facts, the same in tables, JSON, CSV and filters.

std::string_view kind_word(torch::EntryKind kind);  ///< "fxgraph", "aotautograd"
std::string_view state_word(EntryState state);      ///< "ok", "damaged", "unreadable"

/// "info none", "reason stored", "fail reasons stored", "no stored reason"; empty where the entry holds no
/// graph.
std::string_view cudagraphs_word(torch::CudagraphFacts facts);

/// "inference", "backward", "forward" for a graph; "training" or "inference" for an AOTAutograd entry.
std::string_view role_word(const torch::EntrySummary& summary);

/// Where the entry's file lies below the cache's root: "fxgraph/ab/fab…/<leaf>", "aotautograd/a…/<leaf>".
std::string entry_path(const CacheSet& cache, const EntryRow& row, const Interner& strings);

/// Name of the entry's file: the hash, or "entry" (torch 2.6 AOTAutograd), or what else was found there.
std::string leaf_name(const EntryRow& row, const Interner& strings);

/// "cpu", "cuda:0", "cuda:1": types with the indices that the entry names.
std::vector<std::string> devices_of(const torch::EntrySummary& summary, const Interner& strings);

/// Splits interned lists such as "addmm, relu" or "cpu,cuda".
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace cachetool::store
