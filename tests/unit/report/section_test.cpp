#include "report/section.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::report;

TEST_CASE("every part of a section is escaped, names of fields too") {
  StringSink sink;
  const Look look;
  SectionWriter sections(sink, look);
  sections.title("ti\x1btle");
  sections.field("na\x1bme", "val\aue");
  sections.text("li\x7fne");
  CHECK(sink.take() ==
        "ti\\x1btle\n"
        "  na\\x1bme        val\\x07ue\n"
        "  li\\x7fne\n");
}
