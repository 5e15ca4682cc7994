#include "verify/check.h"

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace cachetool;
using namespace cachetool::verify;
using torch::ReleaseFamily;

TEST_SUITE_BEGIN("verify/check");

namespace {

constexpr std::array kRaisesOnce = {
    FamilySeverity{ReleaseFamily::k2_6, ReleaseFamily::k2_9, Severity::kError},
    FamilySeverity{ReleaseFamily::k2_10, ReleaseFamily::k2_15, Severity::kInfo}};
constexpr Check kExample{"example.broken", "an example is broken", Severity::kWarning, "mend it",
                         kRaisesOnce};

/// Headings of docs/checks.md: "## group" and "### id", in order.
std::vector<std::string> documented_headings() {
  std::vector<std::string> headings;
  std::ifstream file(CACHETOOL_TEST_DATA "/../../docs/checks.md");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("## ") || line.starts_with("### ")) headings.push_back(line);
  return headings;
}

}  // namespace

TEST_CASE("docs/checks.md has a section for every check, in the same order, and no other") {
  std::vector<std::string> expected;
  for (const CheckGroup& group : all_checks()) {
    expected.push_back("## " + std::string(group.title));
    for (const Check* check : group.checks) expected.push_back("### " + std::string(check->id));
  }
  CHECK(documented_headings() == expected);
}

TEST_CASE("every section of docs/checks.md says how to mend what it describes") {
  std::ifstream file(CACHETOOL_TEST_DATA "/../../docs/checks.md");
  std::string id;
  bool mends = true;
  std::size_t sections = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ") || line.starts_with("### ")) {
      CAPTURE(id);
      CHECK(mends);
      id = line.starts_with("### ") ? line.substr(4) : std::string();
      mends = id.empty();
      sections += id.empty() ? 0 : 1;
    }
    mends = mends || line.find("Mend: ") != std::string::npos;
  }
  CHECK(mends);
  CHECK(sections > 90);
}

TEST_CASE("the severity is that of the release, the worst of several, the check's own for an unknown one") {
  CHECK(severity_for(kExample, ReleaseFamily::k2_9, ReleaseFamily::k2_9) == Severity::kError);
  CHECK(severity_for(kExample, ReleaseFamily::k2_15, ReleaseFamily::k2_15) == Severity::kInfo);
  CHECK(severity_for(kExample, ReleaseFamily::k2_9, ReleaseFamily::k2_11) == Severity::kError);
  CHECK(severity_for(kExample, ReleaseFamily::k2_4, ReleaseFamily::k2_5) == Severity::kWarning);
  CHECK(severity_for(kExample, ReleaseFamily::kUnknown, ReleaseFamily::kUnknown) == Severity::kWarning);
}

TEST_CASE("every check has an id of its own, a title and a way to mend it") {
  std::set<std::string> ids;
  for (const CheckGroup& group : all_checks()) {
    CHECK_FALSE(group.title.empty());
    for (const Check* check : group.checks) {
      CAPTURE(check->id);
      CHECK(ids.insert(std::string(check->id)).second);
      CHECK(check->id.find('.') != std::string_view::npos);
      CHECK(check->id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos);
      CHECK_FALSE(check->title.empty());
      CHECK_FALSE(check->mend.empty());
      CHECK(find_check(check->id) == check);
    }
  }
  CHECK(find_check("no.such-check") == nullptr);
}

TEST_CASE("severities have names") {
  for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError})
    CHECK(parse_severity(severity_name(severity)) == severity);
  CHECK_FALSE(parse_severity("fatal"));
}

TEST_SUITE_END();
