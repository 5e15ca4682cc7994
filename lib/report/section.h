#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"
#include "report/format.h"
#include "report/table.h"

namespace cachetool::report {

/// Writes titled sections of labelled lines, text and tables, with everything escaped for a terminal. A title
/// is only written once something follows it.
class SectionWriter {
 public:
  SectionWriter(OutputSink& sink, const Look& look) : sink_(sink), look_(look) {}

  /// The next section. Nothing is written yet.
  void title(std::string_view text);
  /// `label   value`; left out when the value is empty.
  void field(std::string_view label, std::string_view value, Style style = Style::kPlain);
  /// A field whose value is prose of torch's: its further lines stand below the first, blank ones are left
  /// out.
  void prose(std::string_view label, std::string_view value, Style style = Style::kPlain);
  /// Lines as they are, indented; at most `max_lines`, then how many more there are. 0: all.
  void text(std::string_view lines, std::size_t max_lines = 0);
  /// A table of these rows, indented; nothing when there are none.
  void table(std::vector<Column> columns, std::vector<std::vector<Cell>> rows);
  const Look& look() const { return look_; }

 private:
  void begin();

  OutputSink& sink_;
  const Look& look_;
  std::string pending_title_;
  bool wrote_any_ = false;
};

/// "3 kernels", "1 kernel".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace cachetool::report
