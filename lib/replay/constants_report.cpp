#include "replay/constants_report.h"

namespace cachetool::replay {

std::string_view state_name(ConstantState state) {
  switch (state) {
    case ConstantState::kStored:
      return "stored";
    case ConstantState::kSupplied:
      return "supplied";
    case ConstantState::kMissing:
      return "missing";
    case ConstantState::kMisfit:
      break;
  }
  return "misfit";
}

ConstantsReport report_constants(const torch::CompiledFxGraph&, LoadedBy, const SuppliedValues*) {
  return {};
}

}  // namespace cachetool::replay
