// Inputs that are made to exhaust: each ends soon, within the budget, and leaves nothing to a deep
// destructor.

#include <doctest/doctest.h>

#include "pickle/dump.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

/// Decodes, checks the budget, and gives the error's code or "".
std::string outcome(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  const auto document = parse(bytes, budget);
  CHECK(budget.peak() <= budget.limit());
  if (!document) {
    CHECK(budget.used() == 0);
    return std::string(code_name(document.error().code));
  }
  StringSink sink;
  dump(*document, sink, {.max_string = 10, .max_lines = 1000});
  CHECK(sink.text().size() < 1'000'000);
  return "";
}

}  // namespace

TEST_SUITE("pickle/hostile") {
  TEST_CASE("a million levels of nesting") {
    CHECK(outcome(raw("\x80\2N") + repeat("\x85", 1'000'000) + ".").empty());
    CHECK(outcome(raw("\x80\4N") + repeat("\x85", 1'000'000) + raw("\x94}h\0Ns\x86.")) == "limit.memory");
    CHECK(outcome(repeat("]", 1'000'000) + repeat("a", 999'999) + ".").empty());
    CHECK(outcome(repeat("(", 1'000'000) + "N.") == "");
    CHECK(outcome(repeat("(", 1'000'000) + repeat("t", 1'000'000) + ".").empty());
    CHECK(outcome("N" + repeat("Q", 1'000'000) + ".").empty());
    CHECK(outcome("cm\nC\n" + repeat(")R", 300'000) + ".") ==
          "limit.memory");  // no pickler calls what a call gave
    CHECK(outcome("cm\nC\n" + repeat(")R", 30'000) + ".").empty());
  }

  TEST_CASE("deep tuples as keys are hashed and compared without recursion") {
    const std::string deep = raw("N") + repeat("\x85", 200'000);
    CHECK(outcome(raw("\x80\2}") + deep + "Ns" + deep + "Ns.").empty());
  }

  TEST_CASE("lists and tuples that double") {
    std::string lists = raw("\x80\4]");
    std::string tuples = raw("\x80\4)");
    for (int i = 0; i < 200; ++i) {
      lists += raw("\x94\x30](h") + little(static_cast<unsigned>(i), 1) + "h" +
               little(static_cast<unsigned>(i), 1) + "e";
      tuples += raw("2\x86");
    }
    CHECK(outcome(lists + ".").empty());
    CHECK(outcome(tuples + ".").empty());
    // As keys, two of them that share nothing take exponential time to compare.
    CHECK(outcome(raw("\x80\4})") + repeat(raw("2\x86"), 60) + "Ns" + raw("N\x85") +
                  repeat(raw("2\x86"), 60) + "NsN\x85" + repeat(raw("2\x86"), 60) + "Ns.") == "limit.work");
  }

  TEST_CASE("values that cost a byte each") {
    CHECK(outcome("(" + repeat("N", 1'000'000) + "l.").empty());
    CHECK(outcome("(" + repeat("N", 1'000'000) + "t.").empty());
    CHECK(outcome("](" + repeat("N", 1'000'000) + "e.").empty());
    CHECK(outcome("]" + repeat("(" + repeat("]", 1000) + "e", 1000) + ".").empty());
    CHECK(outcome("](" + repeat("}", 1000) + repeat("e(" + repeat("}", 1000), 1000) + "e.").empty());
    const std::string memory = outcome("(" + repeat("}", 1'000'000) + "l.");
    CHECK((memory.empty() || memory == "limit.memory"));
    CHECK(outcome(raw("\x80\4") + repeat("]\x94", 500'000) + ".").empty());
  }

  TEST_CASE("a million globals") {
    std::string bytes;
    for (int i = 0; i < 1'000'000; ++i) bytes += "cm\n" + std::to_string(i) + "\n0";
    Budget budget = Budget::for_input(bytes.size());
    const auto document = parse(bytes + "N.", budget);
    REQUIRE(document);
    CHECK(document->globals().size() == 1'000'000);
  }

  TEST_CASE("many keys") {
    std::string bytes = "}(";
    for (std::uint64_t i = 0; i < 200'000; ++i) bytes += "J" + little(i << 12, 4) + "N";
    CHECK(outcome(bytes + "u.").empty());
    std::string nans = "}(";
    for (int i = 0; i < 50'000; ++i) nans += raw("G\x7f\xf8\0\0\0\0\0\0N");
    CHECK(outcome(nans + "u.").empty());
  }

  TEST_CASE("long keys that differ at their ends") {
    const std::string long_text(100'000, 'x');
    std::string bytes = raw("\x80\4}") + "X" + little(100'001, 4) + long_text + "a\x94" + "0" + "X" +
                        little(100'001, 4) + long_text + "b\x94" + "0";
    bytes += repeat(raw("h\0Nsh\1Ns"), 100'000);
    const std::string code = outcome(bytes + ".");
    CHECK((code.empty() || code == "limit.work"));
  }

  TEST_CASE("a small budget is kept to") {
    const std::string bytes = "(" + repeat("N", 100'000) + "l.";
    for (const std::uint64_t limit : {0ULL, 100ULL, 10'000ULL, 1'000'000ULL, 1'700'000ULL}) {
      Budget budget(limit);
      const auto document = parse(bytes, budget);
      CHECK(budget.peak() <= limit);
      REQUIRE_FALSE(document);
      CHECK(document.error().code == ErrorCode::kLimitMemory);
      CHECK(document.error().offset.has_value());
      CHECK(budget.used() == 0);
    }
    Budget enough(8'000'000);
    CHECK(parse(bytes, enough).has_value());
  }
}
