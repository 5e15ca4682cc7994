#include "report/section.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "report/display_width.h"

namespace cachetool::report {
namespace {

constexpr std::size_t kLabelWidth = 16;

// Puts blanks in front of what goes through; each write is one line.
class IndentedSink final : public OutputSink {
 public:
  explicit IndentedSink(OutputSink& sink) : sink_(sink) {}
  void write(std::string_view bytes) override {
    sink_.write("  ");
    sink_.write(bytes);
  }

 private:
  OutputSink& sink_;
};

}  // namespace

void SectionWriter::title(std::string_view text) {
  pending_title_ = text;
}

void SectionWriter::begin() {
  if (pending_title_.empty()) return;
  if (wrote_any_) sink_.write("\n");
  sink_.write(look_.palette.paint(escape_for_terminal(pending_title_), Style::kHeading) + "\n");
  pending_title_.clear();
  wrote_any_ = true;
}

void SectionWriter::field(std::string_view label, std::string_view value, Style style) {
  if (value.empty()) return;
  begin();
  const std::string shown = escape_for_terminal(label);
  const std::size_t width = display_width(shown);
  const std::string padding(width + 2 <= kLabelWidth ? kLabelWidth - width : 2, ' ');
  sink_.write(
      fmt::format("  {}{}{}\n", shown, padding, look_.palette.paint(escape_for_terminal(value), style)));
}

void SectionWriter::prose(std::string_view label, std::string_view value, Style style) {
  bool first = true;
  while (!value.empty()) {
    const std::size_t end = value.find('\n');
    const std::string_view line = value.substr(0, end);
    value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    const std::size_t last = line.find_last_not_of(' ');
    if (last == std::string_view::npos) continue;
    field(first ? label : std::string_view(), line.substr(0, last + 1), style);
    first = false;
  }
}

void SectionWriter::text(std::string_view lines, std::size_t max_lines) {
  if (lines.empty()) return;
  begin();
  std::size_t written = 0;
  while (!lines.empty()) {
    if (max_lines != 0 && written == max_lines) {
      std::size_t more = 1;
      for (const char c : lines.substr(0, lines.size() - 1)) more += c == '\n';
      sink_.write(
          "  " +
          look_.palette.paint(fmt::format("… {} more", counted(more, "line", "lines")), Style::kFaint) +
          "\n");
      return;
    }
    const std::size_t end = lines.find('\n');
    sink_.write("  " + escape_for_terminal(lines.substr(0, end)) + "\n");
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    ++written;
  }
}

void SectionWriter::table(std::vector<Column> columns, std::vector<std::vector<Cell>> rows) {
  if (rows.empty()) return;
  begin();
  IndentedSink indented(sink_);
  TableOptions options;
  options.width = look_.width > 2 ? look_.width - 2 : 0;
  options.palette = look_.palette;
  TableWriter writer(indented, std::move(columns), options);
  for (auto& row : rows) writer.row(std::move(row));
  writer.finish();
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace cachetool::report
