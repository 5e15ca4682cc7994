#include "report/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/text.h"
#include "report/display_width.h"

namespace cachetool::report {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

TableWriter::TableWriter(OutputSink& sink, std::vector<Column> columns, TableOptions options)
    : sink_(sink), columns_(std::move(columns)), options_(options), shown_(columns_.size(), true) {}

void TableWriter::row(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = escape_for_terminal(cell.text);
  if (settled_) return write_row(cells);
  held_.push_back(std::move(cells));
  if (held_.size() >= options_.sample) settle();
}

void TableWriter::finish() {
  if (!settled_ && !held_.empty()) settle();
}

void TableWriter::settle() {
  settled_ = true;
  for (const Column& column : columns_) widths_.push_back(display_width(column.title));
  for (const auto& cells : held_) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths_[i] = std::max(widths_[i], display_width(cells[i].text));
  }
  if (options_.width != 0) fit_to_terminal();
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Style::kHeading});
  write_row(titles);
  for (const auto& cells : held_) write_row(cells);
  held_.clear();
  held_.shrink_to_fit();
}

void TableWriter::fit_to_terminal() {
  const auto line_width = [&](bool shrunk) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!shown_[i]) continue;
      const std::size_t floor = columns_[i].shrinks_to;
      width += (shrunk && floor != 0 ? std::min(widths_[i], floor) : widths_[i]) + kGap;
    }
    return width - std::min(width, kGap);
  };
  while (line_width(true) > options_.width) {
    std::size_t victim = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const int rank = columns_[i].drop_rank;
      if (shown_[i] && rank > 0 && (victim == columns_.size() || rank > columns_[victim].drop_rank))
        victim = i;
    }
    if (victim == columns_.size()) break;
    shown_[victim] = false;
  }
  // One column at a time from the widest that can still give: long cells lose first.
  for (std::size_t excess = line_width(false); excess > options_.width; --excess) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t floor = columns_[i].shrinks_to;
      if (!shown_[i] || floor == 0 || widths_[i] <= floor) continue;
      if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
    }
    if (widest == columns_.size()) break;
    --widths_[widest];
  }
}

void TableWriter::write_row(const std::vector<Cell>& cells) {
  std::string line;
  std::size_t blanks = 0;  // owed before the next text, so that lines have none at their end
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!shown_[i]) continue;
    const bool may_cut = options_.width != 0 && columns_[i].shrinks_to != 0;
    const std::string text = may_cut ? fit_width(cells[i].text, widths_[i]) : cells[i].text;
    const std::size_t width = display_width(text);
    const std::size_t padding = widths_[i] - std::min(width, widths_[i]);
    if (columns_[i].align == Align::kRight) blanks += padding;
    if (!text.empty()) {
      line.append(blanks, ' ');
      blanks = 0;
      line += options_.palette.paint(text, cells[i].style);
    }
    if (columns_[i].align == Align::kLeft) blanks += padding;
    blanks += kGap;
  }
  line += '\n';
  sink_.write(line);
}

}  // namespace cachetool::report
