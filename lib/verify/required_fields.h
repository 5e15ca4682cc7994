#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/aot_entry.h"
#include "torch/output_code.h"
#include "torch/release.h"

namespace cachetool::verify {

/// Fields that torch reads when it loads a graph and that the graph lacks, or that are None where torch needs
/// a value: "guards_expr is missing", in the order in which torch reads them. `release` says which fields its
/// torch reads; unknown: those that every release reads. torch/_inductor/codecache.py:
/// FxGraphCache._lookup_graph, cache_hit_post_compile; output_code.py: CompiledFxGraph.post_compile (2.4
/// to 2.14).
std::vector<std::string> missing_fields(const torch::CompiledFxGraph& graph, torch::ReleaseFamily release);

/// The same for an AOTAutograd entry, without the graphs that it may hold.
/// torch/_functorch/_aot_autograd/aot_autograd_result.py: wrap_post_compile (2.13), autograd_cache.py (2.5).
std::vector<std::string> missing_fields(const torch::AotAutogradEntry& entry, torch::ReleaseFamily release);

/// Whether torch reads this member of a graph to load it.
bool is_required_field(std::string_view name);

}  // namespace cachetool::verify
