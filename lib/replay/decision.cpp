#include "replay/decision.h"

namespace cachetool::replay {

std::string_view callable_name(Callable callable) {
  switch (callable) {
    case Callable::kPlain:
      return "plain";
    case Callable::kCudagraph:
      return "cudagraph";
    case Callable::kCudagraphPartitions:
      return "cudagraph_partitions";
    case Callable::kError:
      return "error";
    case Callable::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNotAsked:
      return "not-asked";
    case Outcome::kPolicy:
      return "policy";
    case Outcome::kDisabledReason:
      return "disabled-reason";
    case Outcome::kFailReasons:
      return "fail-reasons";
    case Outcome::kNoPartition:
      return "no-partition";
    case Outcome::kBisector:
      return "bisector";
    case Outcome::kWrapped:
      return "wrapped";
    case Outcome::kCustomWrapper:
      return "custom-wrapper";
    case Outcome::kNoCudagraphCode:
      return "no-checks";
    case Outcome::kRaised:
      return "raised";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace cachetool::replay
