#include "report/tree.h"

#include "base/text.h"

namespace cachetool::report {

void write_tree(OutputSink& sink, const std::vector<TreeLine>& lines, const Palette& palette) {
  // From the last line up: is there another line of this depth below, before the parent's end?
  std::vector<bool> last(lines.size(), true);
  std::vector<bool> seen;
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::size_t depth = lines[i].depth;
    if (seen.size() <= depth) seen.resize(depth + 1, false);
    last[i] = !seen[depth];
    seen[depth] = true;
    seen.resize(depth + 1);
  }
  std::vector<bool> open;  // per depth: does a branch go on below?
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TreeLine& line = lines[i];
    open.resize(line.depth + 1);
    std::string text;
    for (std::size_t depth = 1; depth < line.depth; ++depth) text += open[depth] ? "│  " : "   ";
    if (line.depth > 0) text += last[i] ? "└─ " : "├─ ";
    open[line.depth] = !last[i];
    text = palette.paint(text, Style::kFaint) + palette.paint(escape_for_terminal(line.label), line.style);
    if (!line.note.empty()) text += "  " + palette.paint(escape_for_terminal(line.note), Style::kFaint);
    sink.write(text + '\n');
  }
}

}  // namespace cachetool::report
