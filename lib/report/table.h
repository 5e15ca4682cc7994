#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/output.h"
#include "report/style.h"

namespace cachetool::report {

enum class Align : bool { kLeft, kRight };

/// A column of a table: its title, and how it gives way on a narrow terminal.
struct Column {
  std::string title;
  Align align = Align::kLeft;
  /// Columns that the column may shrink to when the line is too long; 0: it never shrinks.
  std::size_t shrinks_to = 0;
  /// Where the line is still too long, the column with the highest rank goes first; 0: it stays.
  int drop_rank = 0;
};

/// What stands in one column of a row.
struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

struct TableOptions {
  std::size_t width = 0;  ///< columns of the terminal; 0: lines may be as long as they like
  Palette palette;
  std::size_t sample = 512;  ///< rows that are held back to find the columns' widths
};

/// Writes aligned rows as they come. The first `sample` rows decide how wide columns are; later rows that
/// need more room take it and push the rest of their line. Every cell's text is escaped for a terminal.
/// Memory is that of the sample, however many rows follow.
class TableWriter {
 public:
  TableWriter(OutputSink& sink, std::vector<Column> columns, TableOptions options);
  /// One cell per column.
  void row(std::vector<Cell> cells);
  /// Writes what is held back; nothing at all for a table without rows.
  void finish();

 private:
  void settle();
  void fit_to_terminal();
  void write_row(const std::vector<Cell>& cells);

  OutputSink& sink_;
  std::vector<Column> columns_;
  TableOptions options_;
  std::vector<std::vector<Cell>> held_;
  std::vector<std::size_t> widths_;
  std::vector<bool> shown_;
  bool settled_ = false;
};

}  // namespace cachetool::report
