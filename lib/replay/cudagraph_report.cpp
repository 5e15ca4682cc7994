#include "replay/cudagraph_report.h"

#include <algorithm>

#include "replay/reason_group.h"

namespace cachetool::replay {
namespace {

bool has_forward(const std::vector<CudagraphRow>& rows, const GraphReplay& graph) {
  if (graph.role != Role::kBackward || !graph.aot || rows.empty() || !rows.back().aot) return false;
  return rows.back().role != Role::kBackward && rows.back().aot->path == graph.aot->path;
}

CudagraphRow row_of(const GraphReplay& graph) {
  CudagraphRow row;
  row.entry = graph.entry;
  row.aot = graph.aot;
  row.role = graph.role;
  row.state = state_of(graph);
  if (row.state == CudagraphState::kPartitions) row.partitions = graph.decision.wraps.size();
  if (graph.decision.error) {
    row.reasons.push_back(short_reason(describe(*graph.decision.error)));
    row.groups.push_back(graph.decision.error->type);
  } else {
    for (const std::string& reason : reasons_of(graph)) row.reasons.push_back(short_reason(reason));
    row.groups = reason_groups(reasons_of(graph));
  }
  row.by_forward = graph.decision.reasons.empty() && !graph.forward_reasons.empty();
  row.compile_time_ns = graph.compile_time_ns;
  row.counted = graph.counted;
  return row;
}

void add(CudagraphTally& tally, std::int64_t time_ns) {
  ++tally.graphs;
  tally.compile_time_ns += time_ns;
}

}  // namespace

void CudagraphCollector::graph(const GraphReplay& graph) {
  CudagraphRow row = row_of(graph);
  row.paired = has_forward(report_.rows, graph);
  report_.pairs += row.paired ? 1 : 0;
  if (row.counted) {
    const std::int64_t time = std::max<std::int64_t>(row.compile_time_ns, 0);
    add(report_.all, time);
    add(report_.states[static_cast<std::size_t>(row.state)], time);
    for (const std::string& group : row.groups) add(report_.reasons[row.state][group], time);
  }
  report_.rows.push_back(std::move(row));
}

}  // namespace cachetool::replay
