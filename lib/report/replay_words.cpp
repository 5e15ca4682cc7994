#include "report/replay_words.h"

#include <fmt/format.h>

#include "replay/reason_group.h"
#include "report/section.h"

namespace cachetool::report {
namespace {

using replay::CudagraphState;
using replay::GraphReplay;
using replay::Outcome;

// An exception in one line; its message may hold a stack trace.
std::string raised_line(const replay::Raised& raised) {
  const std::string text = describe(raised);
  return text.substr(0, text.find('\n'));
}

std::string bare_reasons(const GraphReplay& graph) {
  if (graph.decision.error) return raised_line(*graph.decision.error);
  std::string line;
  for (const std::string& reason : reasons_of(graph))
    line += (line.empty() ? "" : ", ") + replay::short_reason(reason);
  return line;
}

std::string with_reason(std::string_view sentence, const std::string& reason) {
  return reason.empty() ? std::string(sentence) : fmt::format("{}: {}", sentence, reason);
}

std::string plain_sentence(const GraphReplay& graph, CudagraphState state) {
  const std::string reason = bare_reasons(graph);
  const bool by_forward = graph.decision.outcome == Outcome::kNotAsked && graph.forward_state;
  if (by_forward) return with_reason("runs plain: CUDA graphs are off because of its forward", reason);
  switch (state) {
    case CudagraphState::kSkipped:
      return with_reason("runs plain: CUDA graphs are skipped", reason);
    case CudagraphState::kSilent:
      return with_reason("runs plain: CUDA graphs are off without a message", reason);
    case CudagraphState::kNoChecks:
      return fmt::format("runs plain: the post-compile of {} knows no CUDA graphs", graph.class_name);
    case CudagraphState::kNotEvaluated:
      return "runs plain: CUDA graphs are not asked for, and were not when it was compiled";
    default:
      return "runs plain: CUDA graphs are not asked for";
  }
}

}  // namespace

Style style_of(CudagraphState state) {
  switch (state) {
    case CudagraphState::kGraph:
    case CudagraphState::kPartitions:
      return Style::kGood;
    case CudagraphState::kSkipped:
    case CudagraphState::kSilent:
      return Style::kWarning;
    case CudagraphState::kRaises:
    case CudagraphState::kUnknown:
      return Style::kBad;
    default:
      return Style::kPlain;
  }
}

std::string outcome_sentence(const GraphReplay& graph) {
  const CudagraphState state = state_of(graph);
  switch (state) {
    case CudagraphState::kGraph:
      return "runs under a CUDA graph";
    case CudagraphState::kPartitions:
      return fmt::format("runs under CUDA graphs, in {}",
                         counted(graph.decision.wraps.size(), "partition", "partitions"));
    case CudagraphState::kRaises:
      return "torch raises " + (graph.decision.error ? raised_line(*graph.decision.error) : std::string());
    case CudagraphState::kUnknown:
      return with_reason("the decision is not known", reason_line(graph));
    default:
      return plain_sentence(graph, state);
  }
}

std::string outcome_word(CudagraphState state, std::size_t partitions) {
  switch (state) {
    case CudagraphState::kGraph:
      return "CUDA graph";
    case CudagraphState::kPartitions:
      return counted(partitions, "partition", "partitions");
    case CudagraphState::kSkipped:
      return "skipped";
    case CudagraphState::kSilent:
      return "off, silent";
    case CudagraphState::kNotAsked:
      return "not asked";
    case CudagraphState::kNotEvaluated:
      return "not evaluated";
    case CudagraphState::kNoChecks:
      return "no checks";
    case CudagraphState::kRaises:
      return "raises";
    case CudagraphState::kUnknown:
      break;
  }
  return "unknown";
}

std::string reason_line(const GraphReplay& graph) {
  const bool of_forward = graph.decision.reasons.empty() && !graph.forward_reasons.empty();
  return (of_forward ? "forward: " : "") + bare_reasons(graph);
}

std::string closing_sentence(const ReplaySummary& summary) {
  constexpr std::pair<CudagraphState, std::string_view> kParts[] = {
      {CudagraphState::kSkipped, "skipped"},         {CudagraphState::kSilent, "off without a message"},
      {CudagraphState::kNotAsked, "not asked for"},  {CudagraphState::kNotEvaluated, "not evaluated"},
      {CudagraphState::kNoChecks, "without checks"}, {CudagraphState::kRaises, "where torch raises"},
      {CudagraphState::kUnknown, "not known"}};
  std::string text =
      fmt::format("{}: {} under CUDA graphs", counted(summary.graphs, "graph", "graphs"),
                  summary.of(CudagraphState::kGraph) + summary.of(CudagraphState::kPartitions));
  for (const auto& [state, words] : kParts) {
    if (summary.of(state) == 0) continue;
    text += fmt::format(", {} {}", summary.of(state), words);
    const auto reasons = summary.reasons.find(state);
    if (reasons == summary.reasons.end()) continue;
    std::string list;
    for (const auto& [reason, count] : reasons->second)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
    if (!list.empty()) text += " (" + list + ")";
  }
  return text;
}

}  // namespace cachetool::report
