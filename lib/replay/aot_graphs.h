#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "replay/graph_lookup.h"
#include "replay/hints.h"
#include "replay/rules.h"
#include "store/opened_entry.h"
#include "store/read_limits.h"
#include "store/source.h"
#include "torch/aot_entry.h"

namespace cachetool::replay {

/// The graph behind compiled_fw or compiled_bw of an AOTAutograd entry.
struct AotGraph {
  const torch::OutputCode* code = nullptr;  ///< of `entry`, or of the AOTAutograd entry that bundles it
  /// The FX entry; null when it is bundled or missing. `code` points into it, so it may not move.
  std::unique_ptr<store::OpenedEntry> entry;
  std::string missing;     ///< why torch finds no graph; empty when it does
  std::string assumption;  ///< what was taken for granted in choosing it; may be empty
  std::optional<CandidateWalk>
      walk;  ///< how it was looked for, without its entry; nothing for a bundled graph
};

/// What a lookup of graphs depends on besides the cache.
struct GraphContext {
  const SizeValues* sizes = nullptr;  ///< of the caller's inputs; null: not given
  ExternLibsKey extern_libs;
  store::ReadLimits limits;
};

/// Finds the FX entry that torch would load: 2.8 on, the first candidate whose guards_expr equals the
/// recorded fx_graph_guard_expr; before, the first whose guards hold for the AOTAutograd call's own sizes,
/// for the backward too. Without sizes the first that may be taken is, which is said.
/// torch/_functorch/_aot_autograd/autograd_cache.py: FXGraphCacheLoadable.load (2.6), aot_autograd_result.py:
/// FxGraphCacheLoadable.load (2.15). `store` is where the AOTAutograd entry lies. Errors are those of reading
/// the cache; a missing graph is none.
Expected<AotGraph> find_aot_graph(store::Source& source, const torch::CompiledGraphRef& reference,
                                  std::uint16_t store, const Rules& rules, const GraphContext& context);

/// The FX key that the entry names; nothing when it names none, or something else.
std::optional<store::KeyRef> graph_key(const torch::CompiledGraphRef& reference, std::uint16_t store);

}  // namespace cachetool::replay
