#include <doctest/doctest.h>

#include "report/csv.h"
#include "report/tree.h"

using namespace cachetool;
using namespace cachetool::report;

TEST_CASE("CSV quotes what RFC 4180 says and nothing else") {
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
  StringSink sink;
  CsvWriter csv(sink);
  csv.record({"a", "b,c", ""});
  CHECK(sink.text() == "a,\"b,c\",\r\n");
}

TEST_CASE("CSV disarms formulas but leaves numbers") {
  CHECK(csv_field("=cmd()") == "'=cmd()");
  CHECK(csv_field("@SUM(A1)") == "'@SUM(A1)");
  CHECK(csv_field("-1.5") == "-1.5");
  CHECK(csv_field("-1+2") == "'-1+2");
  CHECK(csv_field("+x") == "'+x");
  CHECK(csv_field("\tx").front() == '\'');
  CHECK(csv_field("a\x1b").find('\x1b') == std::string::npos);
}

TEST_CASE("a tree draws its branches") {
  StringSink sink;
  write_tree(sink,
             {{0, "root", "note"}, {1, "a", ""}, {2, "b", ""}, {2, "c", ""}, {1, "d", ""}, {2, "e", ""}},
             Palette());
  CHECK(sink.text() ==
        "root  note\n"
        "├─ a\n"
        "│  ├─ b\n"
        "│  └─ c\n"
        "└─ d\n"
        "   └─ e\n");
}
