#include "report/replay_report.h"

namespace cachetool::report {

void ReplaySummary::add(const replay::GraphReplay& graph) {
  using replay::CudagraphState;
  if (!graph.counted) return;  // another item stands for it
  ++graphs;
  const CudagraphState state = state_of(graph);
  ++states[static_cast<std::size_t>(state)];
  if (state != CudagraphState::kSkipped && state != CudagraphState::kSilent) return;
  for (const std::string& group : replay::reason_groups(reasons_of(graph))) ++reasons[state][group];
}

std::unique_ptr<ReplayWriter> make_replay_writer(OutputSink& sink, const std::string& root, Format format,
                                                 const Look& look, Detail detail) {
  if (format == Format::kJson) return make_replay_json(sink, root);
  if (format == Format::kJsonLines) return make_replay_json_lines(sink);
  return detail == Detail::kAll ? make_replay_text(sink, look) : make_replay_table(sink, look);
}

}  // namespace cachetool::report
