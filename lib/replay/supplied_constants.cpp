#include "replay/supplied_constants.h"

namespace cachetool::replay {

OrRaised<std::vector<BoundConstant>> SuppliedConstants::unwrap(const torch::CompiledFxGraph& graph,
                                                               const Rules& rules) const {
  return StoredConstants(LoadedBy::kFxGraphCache).unwrap(graph, rules);
}

}  // namespace cachetool::replay
