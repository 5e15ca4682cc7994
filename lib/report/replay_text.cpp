#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/lookup_report.h"
#include "report/replay_report.h"
#include "report/replay_sections.h"
#include "report/replay_settings.h"
#include "report/replay_words.h"
#include "report/section.h"

namespace cachetool::report {
namespace {

using replay::Callable;
using replay::CudagraphState;
using replay::Decision;
using replay::EntryPlace;
using replay::GraphReplay;

std::string name_of(const EntryPlace& place) {
  if (place.key.empty()) return place.path;
  return place.leaf.empty() ? place.key : place.key + "/" + place.leaf;
}

std::string release_text(const GraphReplay& graph) {
  const std::string range = torch::family_range(graph.release.first, graph.release.last);
  return fmt::format("{}, decided by the rules of {}",
                     graph.release.exact.empty() ? range : graph.release.exact,
                     torch::family_name(graph.rules));
}

void write_identity(SectionWriter& sections, const GraphReplay& graph) {
  const CudagraphState state = state_of(graph);
  sections.title(fmt::format("{} {}", graph.role == replay::Role::kUnknown ? "graph" : role_name(graph.role),
                             graph.entry.key.empty() ? graph.entry.path : graph.entry.key));
  sections.field("outcome", outcome_sentence(graph), style_of(state));
  sections.field("entry", graph.entry.path);
  if (graph.aot) sections.field("through", graph.aot->path.empty() ? name_of(*graph.aot) : graph.aot->path);
  if (graph.class_name != "CompiledFxGraph") sections.field("class", graph.class_name);
  if (graph.rules != torch::ReleaseFamily::kUnknown) sections.field("torch", release_text(graph));
  if (graph.compile_time_ns >= 0) sections.field("compile time", format_duration(graph.compile_time_ns));
}

void write_reasons(SectionWriter& sections, const GraphReplay& graph) {
  sections.title("Reasons");
  for (const std::string& reason : graph.decision.reasons) sections.text(reason);
  if (graph.decision.error) sections.field("raised in", graph.decision.error->source);
  if (!graph.decision.reasons.empty()) return;
  sections.title("Reasons of its forward");
  for (const std::string& reason : graph.forward_reasons) sections.text(reason);
}

void write_effects(SectionWriter& sections, const Decision& decision) {
  sections.title("Logged, as a warning");
  for (const std::string& message : decision.log) sections.text(message);
  sections.title("Counted");
  if (decision.cudagraph_skips != 0)
    sections.field("cudagraph_skips", fmt::format("{:+}", decision.cudagraph_skips));
}

std::string callable_text(const GraphReplay& graph) {
  const Decision& decision = graph.decision;
  std::string text;
  switch (decision.callable) {
    case Callable::kPlain:
      text = "the wrapper module's call";
      break;
    case Callable::kCudagraph:
      text = "the wrapper module's call, recorded at its first call and replayed as one CUDA graph";
      break;
    case Callable::kCudagraphPartitions:
      text = "the wrapper module's call, in which each partition is recorded and replayed";
      break;
    default:
      return {};
  }
  if (decision.sets_running_backward) text += "; it tells the forward's manager that backward runs";
  if (!decision.realign.empty()) text += "; inputs are realigned first";
  if (decision.wraps_compiled_region) text += "; inside a dispatch mode as a higher-order operator";
  return text;
}

std::string change(std::string_view before, std::string_view after) {
  return before == after ? std::string(before) : fmt::format("{} → {}", before, after);
}

void write_result(SectionWriter& sections, const GraphReplay& graph) {
  const replay::Boxes& after = graph.decision.after;
  if (graph.decision.callable == Callable::kUnknown) return;
  sections.title("After post-compile");
  sections.field("callable", callable_text(graph));
  sections.field("cudagraphs",
                 change(graph.before.cudagraphs ? "on" : "off", after.cudagraphs ? "on" : "off"));
  sections.field("device index", change(index_box_text(graph.before.forward_device_index),
                                        index_box_text(after.forward_device_index)));
  if (graph.decision.specializes_sizes)
    sections.field("sizes", "symbolic inputs are fixed to the sizes at hand");
}

void write_notes(SectionWriter& sections, const GraphReplay& graph) {
  sections.title("Decided only when it is called");
  for (const replay::RunTimeNote& note : graph.run_time) sections.field(note.id, note.text);
  sections.title("Graphs inside");
  for (const std::string& nested : graph.nested_graphs) sections.text(nested);
  sections.title("Taken for granted");
  for (const std::string& assumption : graph.assumptions) sections.text(assumption);
}

// The rest is only listed where names are wanted in full, unless somebody chose it.
constexpr std::size_t kImportantSettings = 5;

void write_settings(SectionWriter& sections, const GraphReplay& graph) {
  if (graph.class_name != "CompiledFxGraph") return;
  const bool all = sections.look().names == Names::kFull;
  std::vector<std::vector<Cell>> rows;
  std::size_t left_out = 0;
  std::size_t i = 0;
  for (const SettingRow& row : setting_rows(graph)) {
    const bool usual = row.from == origin_name(replay::SettingOrigin::kDefault) ||
                       row.from == origin_name(replay::SettingOrigin::kKey);
    if (++i > kImportantSettings && usual && !all) {
      ++left_out;
      continue;
    }
    rows.push_back({{std::string(row.name), Style::kName}, {row.value}, {std::string(row.from)}});
  }
  sections.title("Settings");
  sections.table({{"NAME"}, {"VALUE", Align::kLeft, 16}, {"FROM"}}, std::move(rows));
  if (left_out != 0)
    sections.text(
        fmt::format("{} more come from the key or are torch's defaults (--full lists them)", left_out));
}

class ReplayText final : public ReplayWriter {
 public:
  ReplayText(OutputSink& sink, const Look& look) : sink_(sink), look_(look), sections_(sink, look_) {}
  void lookup(const replay::Lookup& lookup) override { write_lookup_section(sections_, lookup); }
  void graph(const GraphReplay& graph) override {
    write_identity(sections_, graph);
    write_reasons(sections_, graph);
    write_effects(sections_, graph.decision);
    write_result(sections_, graph);
    write_input_sections(sections_, graph);
    write_constant_sections(sections_, graph.constants);
    write_hit_section(sections_, graph.on_hit);
    write_notes(sections_, graph);
    write_settings(sections_, graph);
  }
  void finish(const ReplaySummary& summary) override {
    if (summary.graphs > 1) sink_.write("\n" + escape_for_terminal(closing_sentence(summary)) + "\n");
  }

 private:
  OutputSink& sink_;
  Look look_;
  SectionWriter sections_;
};

// A row for each graph; keys as long as they have to be told apart are not known before the end, so a fixed
// part of them is shown.
class ReplayTable final : public ReplayWriter {
 public:
  ReplayTable(OutputSink& sink, const Look& look)
      : sink_(sink),
        look_(look),
        table_(sink, {{"KEY"}, {"ROLE"}, {"OUTCOME"}, {"REASON", Align::kLeft, 24}},
               {look.width, look.palette}) {}
  void lookup(const replay::Lookup&) override {}  // a key's lookup is told with its graph in full
  void graph(const GraphReplay& graph) override {
    const CudagraphState state = state_of(graph);
    const std::string& key = graph.entry.key.empty() ? graph.entry.path : graph.entry.key;
    table_.row({{look_.names == Names::kFull ? name_of(graph.entry) : key.substr(0, kShownKey), Style::kName},
                {std::string(role_name(graph.role))},
                {outcome_word(state, graph.decision.wraps.size()), style_of(state)},
                {reason_line(graph)}});
  }
  void finish(const ReplaySummary& summary) override {
    table_.finish();
    sink_.write((summary.graphs == 0 ? "" : "\n") + escape_for_terminal(closing_sentence(summary)) + "\n");
  }

 private:
  static constexpr std::size_t kShownKey = 12;

  OutputSink& sink_;
  Look look_;
  TableWriter table_;
};

}  // namespace

std::unique_ptr<ReplayWriter> make_replay_text(OutputSink& sink, const Look& look) {
  return std::make_unique<ReplayText>(sink, look);
}

std::unique_ptr<ReplayWriter> make_replay_table(OutputSink& sink, const Look& look) {
  return std::make_unique<ReplayTable>(sink, look);
}

}  // namespace cachetool::report
