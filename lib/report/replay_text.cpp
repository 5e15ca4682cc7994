#include "base/text.h"
#include "report/replay_report.h"

namespace cachetool::report {
namespace {

class ReplayText final : public ReplayWriter {
 public:
  explicit ReplayText(OutputSink& sink) : sink_(sink) {}
  void graph(const replay::GraphReplay& graph) override {
    sink_.write(escape_for_terminal(graph.entry.key) + " " +
                std::string(callable_name(graph.decision.callable)) + "\n");
  }
  void finish(const ReplaySummary&) override {}

 private:
  OutputSink& sink_;
};

}  // namespace

std::unique_ptr<ReplayWriter> make_replay_text(OutputSink& sink, const Look&) {
  return std::make_unique<ReplayText>(sink);
}

}  // namespace cachetool::report
