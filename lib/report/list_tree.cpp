#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "report/list_report.h"
#include "report/tree.h"
#include "store/words.h"

namespace cachetool::report {
namespace {

using store::EntryRow;
using store::UnitId;

// References go entry → graph → wrapper → kernel module → directory; nothing real is deeper.
constexpr std::size_t kMaxDepth = 12;

class TreeBuilder {
 public:
  TreeBuilder(const ListReport& report, const store::ReferenceIndex& references, const Look& look)
      : report_(report), references_(references), look_(look) {
    for (const EntryRow& row : report.listing.rows) {
      if (const auto unit = unit_of(row)) rows_.emplace(*unit, &row);
    }
  }

  std::optional<UnitId> unit_of(const EntryRow& row) const {
    return references_.find(report_.cache.stores[row.store].root,
                            store::entry_path(report_.cache, row, report_.strings));
  }

  // The unit and everything below it, parents first.
  std::vector<TreeLine> lines(UnitId root) {
    std::vector<TreeLine> lines;
    std::vector<std::pair<UnitId, std::size_t>> open{{root, 0}};
    while (!open.empty()) {
      const auto [unit, depth] = open.back();
      open.pop_back();
      reached_.insert(unit);
      lines.push_back(line(unit, depth));
      if (depth >= kMaxDepth) continue;
      const auto children = references_.children(unit);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        open.emplace_back(*child, depth + 1);
    }
    return lines;
  }

  bool reached(UnitId unit) const { return reached_.contains(unit); }

 private:
  TreeLine line(UnitId id, std::size_t depth) const {
    const store::Unit& unit = references_.units()[id];
    TreeLine line;
    line.depth = depth;
    if (const auto row = rows_.find(id); row != rows_.end()) {
      describe_entry(*row->second, line);
    } else {
      line.label = fmt::format("{} {}", store::unit_kind_name(unit.kind), unit.path);
      line.note = look_.size(unit.bytes);
      if (unit.files > 1) line.note += fmt::format(" in {} files", unit.files);
    }
    return line;
  }

  void describe_entry(const EntryRow& row, TreeLine& line) const {
    const std::string key = row.summary.key.str();
    line.style = Style::kName;
    line.label = fmt::format(
        "{} {}", store::kind_word(row.summary.kind),
        look_.names == Names::kFull ? key : report_.listing.abbreviations.shorten(row.summary.key));
    if (report_.listing.several_leaves) {
      const std::string leaf = store::leaf_name(row, report_.strings);
      line.label += "/" + (look_.names == Names::kFull ? leaf : leaf.substr(0, 6));
    }
    line.note = look_.size(row.bytes);
    if (row.state != store::EntryState::kOk) {
      line.note += fmt::format(", {}: {}", store::state_word(row.state), report_.strings.text(row.problem));
      return;
    }
    if (row.compile_time_ns >= 0) line.note += ", " + format_duration(row.compile_time_ns);
    line.note += fmt::format(", {}", store::role_word(row.summary));
    const std::string_view operators = report_.strings.text(row.summary.operators);
    if (!operators.empty()) line.note += fmt::format(": {}", operators);
  }

  const ListReport& report_;
  const store::ReferenceIndex& references_;
  const Look& look_;
  std::unordered_map<UnitId, const EntryRow*> rows_;
  std::unordered_set<UnitId> reached_;
};

}  // namespace

void write_list_tree(OutputSink& sink, const ListReport& report, const store::ReferenceIndex& references,
                     const Look& look) {
  TreeBuilder builder(report, references, look);
  for (const auto kind : {torch::EntryKind::kAotAutograd, torch::EntryKind::kFxGraph}) {
    for (const std::uint32_t i : report.listing.shown) {
      const EntryRow& row = report.listing.rows[i];
      const auto unit = builder.unit_of(row);
      if (row.summary.kind != kind || !unit || builder.reached(*unit)) continue;
      write_tree(sink, builder.lines(*unit), look.palette);
    }
  }
  sink.write((report.listing.shown.empty() ? "" : "\n") + totals_line(report, look) + "\n");
}

}  // namespace cachetool::report
