#include "report/table.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "report/display_width.h"

using namespace cachetool;
using namespace cachetool::report;

namespace {

std::string render(std::vector<Column> columns, std::vector<std::vector<Cell>> rows,
                   TableOptions options = {}) {
  StringSink sink;
  TableWriter table(sink, std::move(columns), std::move(options));
  for (auto& row : rows) table.row(std::move(row));
  table.finish();
  return sink.take();
}

}  // namespace

TEST_CASE("columns are as wide as their widest cell, numbers to the right, nothing behind the last") {
  CHECK(render({{"NAME"}, {"N", Align::kRight}, {"X"}}, {{{"a"}, {"10"}, {"x"}}, {{"long"}, {"7"}, {""}}}) ==
        "NAME   N  X\n"
        "a     10  x\n"
        "long   7\n");
}

TEST_CASE("a table without rows writes nothing") {
  CHECK(render({{"A"}}, {}).empty());
}

TEST_CASE("width counts columns of the terminal, not bytes") {
  CHECK(display_width("añb") == 3);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\xcc\x81") == 1);
  CHECK(display_width("\xff") == 1);
  CHECK(render({{"A"}, {"B"}}, {{{"日本"}, {"x"}}, {{"abc"}, {"y"}}}) ==
        "A     B\n"
        "日本  x\n"
        "abc   y\n");
}

TEST_CASE("text is cut with an ellipsis where it doesn't fit") {
  CHECK(fit_width("abcdef", 6) == "abcdef");
  CHECK(fit_width("abcdef", 4) == "abc…");
  CHECK(fit_width("日本語", 4) == "日…");
  CHECK(fit_width("abc", 0).empty());
}

TEST_CASE("on a narrow terminal long columns shrink and then the least needed ones go") {
  const std::vector<Column> columns{{"KEY"}, {"TEXT", Align::kLeft, 6}, {"EXTRA", Align::kLeft, 0, 1}};
  const std::vector<std::vector<Cell>> rows{{{"k1"}, {"a rather long text"}, {"extra"}}};
  TableOptions options;
  options.width = 20;
  for (const std::size_t width : {40u, 24u, 20u, 12u}) {
    options.width = width;
    const std::string text = render(columns, rows, options);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      CHECK(display_width(text.substr(begin, end - begin)) <= width);
      begin = end + 1;
    }
  }
  options.width = 12;
  CHECK(render(columns, rows, options).find("EXTRA") == std::string::npos);
}

TEST_CASE("cells from a cache can't reach the terminal") {
  const std::string text = render({{"A"}}, {{{"\x1b[31mred\nline"}}});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("rows behind the sample stream with the widths found") {
  TableOptions options;
  options.sample = 2;
  StringSink sink;
  TableWriter table(sink, {{"A"}, {"B"}}, options);
  table.row({{"x"}, {"1"}});
  CHECK(sink.text().empty());
  table.row({{"yy"}, {"2"}});
  CHECK(sink.text() == "A   B\nx   1\nyy  2\n");
  table.row({{"longer"}, {"3"}});
  CHECK(sink.text() == "A   B\nx   1\nyy  2\nlonger  3\n");
}

TEST_CASE("colours only where they are on, and padding outside them") {
  TableOptions options;
  options.palette = Palette(Colors::kOn);
  const std::string text = render({{"A"}, {"B"}}, {{{"x", Style::kBad}, {"y"}}}, options);
  CHECK(text == "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
}
