#include "replay/cudagraph_state.h"

#include <algorithm>

#include "replay/reason_group.h"
#include "replay/replay.h"

namespace cachetool::replay {

std::string_view state_name(CudagraphState state) {
  switch (state) {
    case CudagraphState::kGraph:
      return "cudagraph";
    case CudagraphState::kPartitions:
      return "partitions";
    case CudagraphState::kSkipped:
      return "skipped";
    case CudagraphState::kSilent:
      return "silent";
    case CudagraphState::kNotAsked:
      return "not-asked";
    case CudagraphState::kNotEvaluated:
      return "not-evaluated";
    case CudagraphState::kNoChecks:
      return "no-checks";
    case CudagraphState::kRaises:
      return "raises";
    case CudagraphState::kUnknown:
      break;
  }
  return "unknown";
}

Evaluated evaluated(const torch::CompiledFxGraph& graph) {
  const bool looked = graph.cudagraph_info.has_value() || graph.disabled_cudagraphs_reason.has_value();
  return looked ? Evaluated::kYes : Evaluated::kNo;
}

CudagraphState state_of(const Decision& decision, Evaluated evaluated) {
  switch (decision.callable) {
    case Callable::kCudagraph:
      return CudagraphState::kGraph;
    case Callable::kCudagraphPartitions:
      return CudagraphState::kPartitions;
    case Callable::kError:
      return CudagraphState::kRaises;
    case Callable::kUnknown:
      return CudagraphState::kUnknown;
    case Callable::kPlain:
      break;
  }
  if (decision.outcome == Outcome::kNoCudagraphCode) return CudagraphState::kNoChecks;
  if (decision.outcome == Outcome::kNotAsked)
    return evaluated == Evaluated::kYes ? CudagraphState::kNotAsked : CudagraphState::kNotEvaluated;
  return decision.cudagraph_skips != 0 ? CudagraphState::kSkipped : CudagraphState::kSilent;
}

CudagraphState state_of(const GraphReplay& graph) {
  if (graph.forward_state && graph.decision.outcome == Outcome::kNotAsked) return *graph.forward_state;
  return state_of(graph.decision, graph.evaluated);
}

const std::vector<std::string>& reasons_of(const GraphReplay& graph) {
  return graph.decision.reasons.empty() ? graph.forward_reasons : graph.decision.reasons;
}

std::vector<std::string> reason_groups(const std::vector<std::string>& reasons) {
  std::vector<std::string> groups;
  for (const std::string& reason : reasons) {
    std::string group = reason_group(reason);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace cachetool::replay
