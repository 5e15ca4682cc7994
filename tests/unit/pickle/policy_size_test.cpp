#include "pickle/policy_size.h"

#include <string>

#include <doctest/doctest.h>

#include "pickle/policy.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

std::string whole(const std::string& body) {
  return raw("\x80\x04") + body + ".";
}

PolicyReport judged(const std::string& pickle) {
  Budget budget = Budget::for_input(pickle.size());
  const auto document = parse(pickle, budget);
  REQUIRE(document);
  return judge(*document, budget);
}

bool says(const PolicyReport& report, const std::string& clause) {
  bool said = false;
  for (const PolicyFinding& finding : report.findings)
    said |= finding.reason.find(clause) != std::string::npos;
  return said;
}

/// A tuple that holds another twice, that another twice, …: 2^(n+1) - 1 values.
std::string doubled(std::size_t times) {
  return ")" + repeat("2\x86", times);
}

const std::string kUnfolds = "unfolds to more than";
const std::string kDeep = "levels deep";

}  // namespace

TEST_SUITE_BEGIN("pickle/policy_size");

TEST_CASE("what is shared counts as often as it is held") {
  CHECK(judged(whole(doubled(29))).verdict == Verdict::kData);
  const PolicyReport report = judged(whole(doubled(30)));
  CHECK(report.verdict == Verdict::kUnknown);
  CHECK(says(report, kUnfolds));
  CHECK(report.total_findings == 1);
  CHECK(report.findings[0].offset == 2 + 2 * 30);  // of the last TUPLE2
  CHECK(judged(whole(doubled(300))).verdict == Verdict::kUnknown);
}

TEST_CASE("bombs are found wherever they lie") {
  const std::string bomb = doubled(40);
  for (const std::string& body : {
           "}" + bomb + "Ns",                                                     // a key
           "\x8f(" + bomb + "\x90",                                               // in a set
           "(" + bomb + "\x91",                                                   // in a frozenset
           "]" + bomb + "a",                                                      // in a list
           short_text("torch") + short_text("Size") + "\x93" + bomb + "\x85R",    // an argument
           short_text("torch") + short_text("Size") + "\x93" + bomb + "\x85R0N",  // of a dropped call
       }) {
    CHECK(says(judged(whole(body)), kUnfolds));
  }
  const std::string inner = whole(bomb);
  const PolicyReport nested = judged(whole("B" + little(inner.size(), 4) + inner));
  CHECK(says(nested, kUnfolds));
  CHECK(nested.findings[0].depth == 1);
}

TEST_CASE("levels are counted, not values") {
  CHECK(judged(whole(")" + repeat("\x85", 49'999))).verdict == Verdict::kData);
  CHECK(says(judged(whole(")" + repeat("\x85", 50'000))), kDeep));
  CHECK(says(judged(whole(repeat("]", 200'000) + repeat("a", 199'999))), kDeep));
  CHECK(says(judged(whole(repeat("}N", 200'000) + "N" + repeat("s", 200'000))), kDeep));
  CHECK(judged(whole("]" + repeat("]a", 200'000))).verdict == Verdict::kData);
}

TEST_CASE("a graph's nodes hold the ones before them") {
  // Each is made of the one before, twice: DUP, TUPLE2, then the class below it, REDUCE.
  const auto unfolds = [](const std::string& module) {
    std::string body =
        short_text(module) + short_text("_NodePickleData") + "\x93" + "q" + raw("\x00") + "0Nq\x01";
    for (int i = 0; i < 60; ++i) body += "0h" + raw("\x00") + "h\x01h\x01\x86Rq\x01";
    return says(judged(whole(body)), kUnfolds);
  };
  CHECK_FALSE(unfolds("torch.fx._graph_pickler"));
  CHECK(unfolds("torch.fake._graph_pickler"));
}

TEST_CASE("what holds itself ends") {
  CHECK(judged(whole(raw("]q\x00") + repeat(raw("h\x00") + "a", 1000))).verdict == Verdict::kData);
  // Doubling on the way round is still doubling.
  CHECK(says(judged(whole(raw("]q\x00") + raw("h\x00\x85") + repeat("2\x86", 40) + "a")), kUnfolds));
}

TEST_CASE("running out of memory is no answer") {
  const std::string pickle = whole(repeat("]", 1000) + repeat("a", 999));
  Budget enough = Budget::for_input(pickle.size());
  const auto document = parse(pickle, enough);
  REQUIRE(document);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1000}}) {
    Budget budget(limit);
    CHECK_FALSE(measure(*document, budget));
    CHECK(budget.used() == 0);
  }
  CHECK(measure(*document, enough));
}

TEST_SUITE_END();
