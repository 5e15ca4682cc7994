#include "replay/on_hit.h"

namespace cachetool::replay {

OnHit on_hit(const torch::CompiledFxGraph&, store::Source&, std::uint16_t, const Rules&) {
  return {};
}

}  // namespace cachetool::replay
