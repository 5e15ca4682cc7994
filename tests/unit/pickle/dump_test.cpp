#include "pickle/dump.h"

#include <doctest/doctest.h>

#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

std::string dumped(const std::string& bytes, const DumpOptions& options = {}) {
  const auto document = decode(bytes);
  REQUIRE(document);
  StringSink sink;
  const bool complete = dump(*document, sink, options);
  CHECK(complete == (sink.text().find("... ends here") == std::string::npos));
  return sink.take();
}

}  // namespace

TEST_SUITE("pickle/dump") {
  TEST_CASE("scalars and short containers take a line") {
    CHECK(dumped("N.") == "None\n");
    CHECK(dumped(raw("\x80\2(K\1\x88G\x3f\xf0\0\0\0\0\0\0U\2a'cm\nC\nt.")) ==
          "(1, True, 1.0, \"a'\", <m.C>)\n");
    CHECK(dumped(raw("\x80\2K\1\x85.")) == "(1,)\n");
    CHECK(dumped(raw("\x80\4\x8f.")) == "set()\n");
    CHECK(dumped(raw("\x80\4"
                     "C\3a\0'.")) == "b\"a\\x00'\"\n");
  }

  TEST_CASE("dicts and objects are indented, shared nodes written once") {
    const std::string call =
        raw("\x80\2"
            "cm\nC\n)\x81q\1}(U\1a]q\2K\1aU\1bh\2U\1ch\1ub.");
    CHECK(dumped(call) ==
          "&1 <m.C> NEWOBJ @8\n"
          "  state: dict (3)\n"
          "    'a': &2 list (1)\n"
          "      1\n"
          "    'b': *2\n"
          "    'c': *1\n");
  }

  TEST_CASE("long strings are cut between characters, control characters escaped") {
    CHECK(dumped(raw("X\6\0\0\0a\xe2\x82\xac"
                     "bc."),
                 {.max_string = 2}) == "'a'... (6 bytes)\n");
    CHECK(dumped(raw("X\6\0\0\0a\xe2\x82\xac"
                     "bc."),
                 {.max_string = 0}) ==
          "'a\xe2\x82\xac"
          "bc'\n");
    CHECK(dumped(raw("U\2\x1b\n.")) == "'\\x1b\\n'\n");
  }

  TEST_CASE("many lines end with a note") {
    const std::string text = dumped("](" + repeat("}K\1K\2s", 100) + "e.", {.max_lines = 10});
    CHECK(text.find("... ends here, after 10 lines\n") != std::string::npos);
  }
}
