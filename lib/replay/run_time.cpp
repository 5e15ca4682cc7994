#include "replay/run_time.h"

namespace cachetool::replay {

std::vector<RunTimeNote> run_time_notes(const torch::CompiledFxGraph&, const Decision&, const Settings&,
                                        const Rules&) {
  return {};
}

}  // namespace cachetool::replay
