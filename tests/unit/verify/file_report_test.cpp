#include "verify/file_report.h"

#include <doctest/doctest.h>

#include "verify/entry_checks.h"
#include "verify/source_checks.h"

using namespace cachetool;
using namespace cachetool::verify;

TEST_SUITE_BEGIN("verify/file_report");

namespace {

constexpr FamilySeverity kLater[] = {
    {torch::ReleaseFamily::k2_13, torch::ReleaseFamily::k2_15, Severity::kWarning}};
const Check kTest{.id = "test.check",
                  .title = "a test",
                  .severity = Severity::kError,
                  .mend = "mend it",
                  .by_family = kLater};

}  // namespace

TEST_CASE("a finding carries the report's place, and the check's advice where it has none of its own") {
  FileReport report(3, "ab/file");
  report.set_key("key/leaf");
  report.found(kTest, {.message = "first", .offset = 7});
  report.found(kTest, {.message = "second", .hint = "do this", .repair = {"ab/file"}, .key = "other"});
  REQUIRE(report.findings().size() == 2);
  const Finding& first = report.findings()[0];
  CHECK(first.check == &kTest);
  CHECK(first.root == 3);
  CHECK(first.path == "ab/file");
  CHECK(first.key == "key/leaf");
  CHECK(first.offset == 7);
  CHECK(first.hint == "mend it");
  CHECK(first.repair.empty());
  CHECK(report.findings()[1].hint == "do this");
  CHECK(report.findings()[1].key == "other");
  CHECK(report.findings()[1].repair == std::vector<std::string>{"ab/file"});
}

TEST_CASE("severity is the worst of the releases that may have written the file") {
  const auto severity = [](torch::ReleaseFamily first, torch::ReleaseFamily last) {
    FileReport report(0, "");
    report.set_release(first, last);
    report.found(kTest, {.message = "x"});
    return report.findings()[0].severity;
  };
  using enum torch::ReleaseFamily;
  CHECK(severity(kUnknown, kUnknown) == Severity::kError);
  CHECK(severity(k2_13, k2_15) == Severity::kWarning);
  CHECK(severity(k2_12, k2_14) == Severity::kError);
  CHECK(severity(k2_6, k2_6) == Severity::kError);
  FileReport report(0, "");
  report.found(kTest, {.message = "x"}, Severity::kInfo);
  CHECK(report.findings()[0].severity == Severity::kInfo);
}

TEST_CASE("coverage counts what was judged, and what couldn't be with its reason") {
  FileReport report(0, "a");
  report.fine(kTest);
  report.found(kTest, {.message = "x"});
  report.not_checkable(kTest, "why");
  report.judge(kTest, []() -> std::optional<FindingText> { return std::nullopt; });
  report.judge(kTest, []() -> std::optional<FindingText> { return FindingText{.message = "y"}; });
  FileReport part(0, "b");
  part.not_checkable(kTest, "why");
  part.not_checkable(checks::kModuleName, "other");
  part.found(kTest, {.message = "z"});
  report.add(std::move(part));
  CHECK(report.findings().size() == 3);
  const Coverage& coverage = report.coverage().at(&kTest);
  CHECK(coverage.checked == 5);
  CHECK(coverage.not_checkable.at("why").count == 2);
  CHECK(coverage.not_checkable.at("why").first_path == "a");
  CHECK(report.coverage().at(&checks::kModuleName).checked == 0);
  CHECK(report.findings()[2].path == "b");
}

TEST_SUITE_END();
