#include <fmt/format.h>

#include "base/text.h"
#include "report/list_report.h"
#include "report/section.h"
#include "report/table.h"
#include "store/words.h"
#include "torch/release.h"

namespace cachetool::report {
namespace {

using store::EntryRow;
using store::EntryState;

// Which columns this table has.
struct Shape {
  bool leaf;
  bool held;
};

std::vector<Column> columns(const Shape& shape) {
  std::vector<Column> all{{"KIND"}, {"KEY"}};
  if (shape.leaf) all.push_back({"LEAF", Align::kLeft, 0, 1});
  all.push_back({"AGE", Align::kRight});
  all.push_back({"SIZE", Align::kRight});
  if (shape.held) all.push_back({"HELD", Align::kRight});
  all.push_back({"COMPILE", Align::kRight});
  all.push_back({"DEVICE", Align::kLeft, 6, 2});
  all.push_back({"GRAPH", Align::kLeft, 18});
  all.push_back({"CUDA GRAPHS", Align::kLeft, 11, 4});
  all.push_back({"TORCH", Align::kLeft, 0, 3});
  all.push_back({"STATE", Align::kLeft, 12});
  return all;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(separator)) + part;
  return text;
}

std::string key_text(const ListReport& report, const torch::HashName& key, const Look& look) {
  return look.names == Names::kFull ? key.str() : report.listing.abbreviations.shorten(key);
}

std::string leaf_text(const ListReport& report, const EntryRow& row, const Look& look) {
  const std::string leaf = store::leaf_name(row, report.strings);
  return look.names == Names::kFull ? leaf : leaf.substr(0, 6);
}

// A graph's name and operators, or the graphs that an AOTAutograd entry names.
std::string graph_text(const ListReport& report, const EntryRow& row, const Look& look) {
  const torch::EntrySummary& summary = row.summary;
  std::string text(report.strings.text(summary.graph_name));
  const std::string_view operators = report.strings.text(summary.operators);
  if (!text.empty() && !operators.empty()) text += ": ";
  text += operators;
  if (!text.empty() || summary.kind == torch::EntryKind::kFxGraph) return text;
  for (const torch::HashName& key : {summary.forward_graph, summary.backward_graph}) {
    if (key == torch::HashName{}) continue;
    text += (text.empty() ? "→ " : ", ") + key_text(report, key, look);
  }
  return text;
}

// The decision under default settings; a graph in partitions says how many.
std::string cudagraphs_text(const ListReport& report, const EntryRow& row) {
  const std::string_view outcome = report.strings.text(row.outcome);
  if (outcome == "partitions") return counted(row.summary.partitions, "partition", "partitions");
  const std::string_view reason = report.strings.text(row.outcome_reason);
  return reason.empty() ? std::string(outcome) : fmt::format("{}: {}", outcome, reason);
}

// The build behind the '+' of an exact release only where names are in full.
std::string torch_text(const ListReport& report, const EntryRow& row, const Look& look) {
  const std::string_view exact = report.strings.text(row.summary.exact_release);
  if (exact.empty()) return torch::family_range(row.summary.family, row.summary.family_last);
  return std::string(look.names == Names::kFull ? exact : exact.substr(0, exact.find('+')));
}

// Times that another listed entry contains stand in parentheses: they don't add up.
std::string time_text(const EntryRow& row) {
  if (row.compile_time_ns < 0) return {};
  const std::string time = format_duration(row.compile_time_ns);
  return row.contained ? "(" + time + ")" : time;
}

Cell state_cell(const ListReport& report, const EntryRow& row) {
  if (row.state == EntryState::kOk) return {"ok", Style::kGood};
  return {fmt::format("{}: {}", store::state_word(row.state), report.strings.text(row.problem)), Style::kBad};
}

std::vector<Cell> cells(const ListReport& report, const EntryRow& row, const Shape& shape, const Look& look) {
  const bool ok = row.state == EntryState::kOk;
  std::vector<Cell> cells;
  cells.push_back({row.summary.kind == torch::EntryKind::kFxGraph ? "fxgraph" : "aot"});
  cells.push_back({key_text(report, row.summary.key, look), Style::kName});
  if (shape.leaf) cells.push_back({leaf_text(report, row, look), Style::kName});
  const bool read = row.state != EntryState::kUnreadable;
  cells.push_back({read ? format_age(report.listing.now_ns - row.modified_ns) : ""});
  cells.push_back({read ? look.size(row.bytes) : ""});
  if (shape.held) {
    cells.push_back({row.held_bytes < 0 ? "" : look.size(static_cast<std::uint64_t>(row.held_bytes))});
  }
  cells.push_back({time_text(row), row.contained ? Style::kFaint : Style::kPlain});
  cells.push_back({ok ? join(store::devices_of(row.summary, report.strings), ", ") : ""});
  cells.push_back({ok ? graph_text(report, row, look) : ""});
  cells.push_back({ok ? cudagraphs_text(report, row) : ""});
  cells.push_back({ok ? torch_text(report, row, look) : ""});
  cells.push_back(state_cell(report, row));
  return cells;
}

}  // namespace

std::string totals_line(const ListReport& report, const Look& look) {
  const store::ListingTotals& totals = report.listing.totals;
  std::string line = counted(totals.entries, "entry", "entries");
  // Which cache was looked into is what an empty answer leaves open.
  if (totals.entries == 0) {
    line += " in " + escape_for_terminal(report.cache.roots[0].path);
    if (report.cache.roots[0].role == store::RootRole::kTriton)
      line += ", a Triton cache: 'cachetool stats' tells of its kernels";
    return line;
  }
  line += fmt::format(" ({}, {}), {}", counted(totals.fx_graphs, "FX graph", "FX graphs"),
                      counted(totals.aot_entries, "AOTAutograd entry", "AOTAutograd entries"),
                      look.size(totals.bytes));
  if (look.sizes == Sizes::kExact) line += " bytes";
  // Entries of torch 2.4 tell no time.
  if (totals.compile_time_ns != 0)
    line += fmt::format(", {} of compile time", format_duration(totals.compile_time_ns));
  if (totals.damaged != 0) line += fmt::format(", {} damaged", totals.damaged);
  if (totals.unreadable != 0) line += fmt::format(", {} unreadable", totals.unreadable);
  if (report.listing.shown.size() < totals.entries) {
    line += fmt::format("; {} shown", report.listing.shown.size());
  }
  return line;
}

void write_list_table(OutputSink& sink, const ListReport& report, const Look& look) {
  const Shape shape{report.listing.several_leaves || look.names == Names::kFull, report.held};
  TableOptions options;
  options.width = look.names == Names::kFull ? 0 : look.width;
  options.palette = look.palette;
  TableWriter table(sink, columns(shape), options);
  for (const std::uint32_t i : report.listing.shown) {
    table.row(cells(report, report.listing.rows[i], shape, look));
  }
  table.finish();
  if (!report.listing.shown.empty()) sink.write("\n");
  sink.write(totals_line(report, look) + "\n");
}

}  // namespace cachetool::report
