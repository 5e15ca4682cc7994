#include "verify/doctor/diagnosis.h"

#include <algorithm>
#include <utility>

namespace cachetool::verify {

Diagnosis::Diagnosis(const DoctorReport& report) : report_(report) {
  for (const Package& package : report.software.packages) {
    if (package.name != "torch") continue;
    family_ = family_of_version(package.version);
    break;
  }
}

void Diagnosis::add(const Check& check, std::string path, std::string message, std::string hint) {
  const auto family = family_.value_or(torch::ReleaseFamily::kUnknown);
  add_as(check, severity_for(check, family, family), std::move(path), std::move(message), std::move(hint));
}

void Diagnosis::add_as(const Check& check, Severity severity, std::string path, std::string message,
                       std::string hint) {
  Finding finding;
  finding.check = &check;
  finding.severity = severity;
  finding.path = std::move(path);
  finding.message = std::move(message);
  finding.hint = hint.empty() ? std::string(check.mend) : std::move(hint);
  findings_.push_back(std::move(finding));
}

void Diagnosis::not_checked(const Check& check, std::string path, std::string reason) {
  not_checked_.push_back({&check, 0, std::move(path), std::move(reason)});
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

void diagnose(DoctorReport& report, const store::Environment& environment) {
  Diagnosis diagnosis(report);
  diagnose_choice(diagnosis, environment);
  diagnose_volumes(diagnosis);
  diagnose_owners(diagnosis, environment);
  diagnose_settings(diagnosis, environment);
  diagnose_software(diagnosis);
  auto findings = std::move(diagnosis.findings());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  auto not_checked = std::move(diagnosis.left_open());
  report.findings = std::move(findings);
  report.not_checked = std::move(not_checked);
}

}  // namespace cachetool::verify
