#include "report/replay_report.h"

namespace cachetool::report {

void ReplaySummary::add(const replay::GraphReplay& graph) {
  using replay::Callable;
  using replay::Outcome;
  ++graphs;
  switch (graph.decision.callable) {
    case Callable::kCudagraph:
    case Callable::kCudagraphPartitions:
      ++under_cudagraphs;
      return;
    case Callable::kError:
      ++raising;
      return;
    case Callable::kUnknown:
      ++unknown;
      return;
    case Callable::kPlain:
      break;
  }
  if (graph.decision.outcome == Outcome::kNotAsked || graph.decision.outcome == Outcome::kNoCudagraphCode) {
    ++not_asked;
    return;
  }
  ++skipped;
  for (const std::string& reason : graph.decision.reasons) ++skip_reasons[reason];
}

std::unique_ptr<ReplayWriter> make_replay_writer(OutputSink& sink, const std::string& root, Format format,
                                                 const Look& look) {
  if (format == Format::kJson) return make_replay_json(sink, root);
  if (format == Format::kJsonLines) return make_replay_json_lines(sink);
  return make_replay_text(sink, look);
}

}  // namespace cachetool::report
