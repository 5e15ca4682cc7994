#include <fmt/format.h>

#include "report/cudagraphs_report.h"
#include "report/replay_words.h"
#include "report/section.h"
#include "store/lookup.h"

namespace cachetool::report {
namespace {

using replay::CudagraphReport;
using replay::CudagraphRow;
using replay::CudagraphState;
using replay::CudagraphTally;

using Rows = std::vector<std::vector<Cell>>;

struct StateWords {
  CudagraphState state;
  const char* words;
};
constexpr StateWords kStates[] = {
    {CudagraphState::kGraph, "under one CUDA graph"},
    {CudagraphState::kPartitions, "under CUDA graphs, in partitions"},
    {CudagraphState::kSkipped, "skipped"},
    {CudagraphState::kSilent, "off without a message"},
    {CudagraphState::kNotAsked, "not asked for"},
    {CudagraphState::kNotEvaluated, "not evaluated: compiled with CUDA graphs off"},
    {CudagraphState::kNoChecks, "of a class that knows no CUDA graphs"},
    {CudagraphState::kRaises, "torch raises"},
    {CudagraphState::kUnknown, "not known"},
};

std::string time_text(std::int64_t time_ns) {
  return time_ns > 0 ? format_duration(time_ns) : std::string();
}

void write_overview(SectionWriter& sections, const CudagraphReport& report, const std::string& cache) {
  const std::uint64_t under =
      report.of(CudagraphState::kGraph).graphs + report.of(CudagraphState::kPartitions).graphs;
  sections.title("Cache " + cache);
  sections.field("CUDA graphs",
                 fmt::format("{} of {} run under them", under, counted(report.all.graphs, "graph", "graphs")),
                 under == report.all.graphs ? Style::kGood : Style::kWarning);
  if (report.pairs != 0) sections.field("pairs", fmt::format("{} of forward and backward", report.pairs));
  sections.field("compile time", time_text(report.all.compile_time_ns));
}

void write_states(SectionWriter& sections, const CudagraphReport& report) {
  Rows rows;
  for (const auto& [state, words] : kStates) {
    const CudagraphTally& tally = report.of(state);
    if (tally.graphs == 0) continue;
    rows.push_back(
        {{words, style_of(state)}, {std::to_string(tally.graphs)}, {time_text(tally.compile_time_ns)}});
  }
  sections.title("What becomes of them");
  sections.table({{"STATE"}, {"GRAPHS", Align::kRight}, {"COMPILE", Align::kRight}}, std::move(rows));
}

void write_reasons(SectionWriter& sections, const CudagraphReport& report) {
  Rows rows;
  for (const auto& [state, groups] : report.reasons) {
    for (const auto& [group, tally] : groups)
      rows.push_back({{outcome_word(state, 0), style_of(state)},
                      {std::to_string(tally.graphs)},
                      {time_text(tally.compile_time_ns)},
                      {group}});
  }
  sections.title("Why not");
  sections.table(
      {{"STATE"}, {"GRAPHS", Align::kRight}, {"COMPILE", Align::kRight}, {"REASON", Align::kLeft, 24}},
      std::move(rows));
}

store::KeyAbbreviations abbreviations(const CudagraphReport& report) {
  std::vector<store::KeyRef> keys;
  for (const CudagraphRow& row : report.rows) {
    if (const auto key = torch::HashName::parse(row.entry.key)) keys.push_back({*key, {}, 0});
  }
  return store::KeyAbbreviations(keys);
}

std::string reason_text(const CudagraphRow& row) {
  const std::string reasons = fmt::format("{}", fmt::join(row.reasons, ", "));
  return row.by_forward ? "forward: " + reasons : reasons;
}

void write_graphs(SectionWriter& sections, const CudagraphReport& report) {
  const store::KeyAbbreviations names = abbreviations(report);
  Rows rows;
  for (const CudagraphRow& row : report.rows) {
    const auto key = torch::HashName::parse(row.entry.key);
    const bool shorten = sections.look().names == Names::kShort && key;
    rows.push_back({{shorten ? names.shorten(*key) : row.entry.key, Style::kName},
                    {(row.paired ? "└ " : "") + std::string(role_name(row.role))},
                    {time_text(row.compile_time_ns)},
                    {outcome_word(row.state, row.partitions), style_of(row.state)},
                    {reason_text(row)}});
  }
  sections.title("Graphs");
  sections.table(
      {{"KEY"}, {"ROLE"}, {"COMPILE", Align::kRight}, {"CUDA GRAPHS"}, {"REASON", Align::kLeft, 24}},
      std::move(rows));
}

}  // namespace

void write_cudagraphs(OutputSink& sink, const CudagraphReport& report, const std::string& cache,
                      Format format, const Look& look) {
  switch (format) {
    case Format::kHuman:
      return write_cudagraphs_text(sink, report, cache, look);
    case Format::kJson:
      return write_cudagraphs_json(sink, report, cache);
    case Format::kJsonLines:
      return write_cudagraphs_json_lines(sink, report);
    case Format::kCsv:
      return write_cudagraphs_csv(sink, report);
  }
}

void write_cudagraphs_text(OutputSink& sink, const CudagraphReport& report, const std::string& cache,
                           const Look& look) {
  SectionWriter sections(sink, look);
  write_overview(sections, report, cache);
  write_states(sections, report);
  write_reasons(sections, report);
  write_graphs(sections, report);
}

}  // namespace cachetool::report
