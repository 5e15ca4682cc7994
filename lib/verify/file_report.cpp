#include "verify/file_report.h"

namespace cachetool::verify {

void FileReport::found(const Check& check, FindingText text, std::optional<Severity> severity) {
  ++coverage_[&check].checked;
  Finding finding;
  finding.check = &check;
  finding.severity = severity.value_or(severity_for(check, first_, last_));
  finding.root = root_;
  finding.path = path_;
  finding.offset = text.offset;
  finding.key = text.key.empty() ? key_ : std::move(text.key);
  finding.message = std::move(text.message);
  finding.hint = text.hint.empty() ? std::string(check.mend) : std::move(text.hint);
  finding.repair = std::move(text.repair);
  findings_.push_back(std::move(finding));
}

void FileReport::not_checkable(const Check& check, std::string reason) {
  Coverage::Reason& entry = coverage_[&check].not_checkable[std::move(reason)];
  if (entry.count++ != 0) return;
  entry.first_root = root_;
  entry.first_path = path_;
}

void merge_coverage(CoverageTable& to, const CoverageTable& from) {
  for (const auto& [check, coverage] : from) {
    Coverage& sum = to[check];
    sum.checked += coverage.checked;
    for (const auto& [reason, entry] : coverage.not_checkable) {
      Coverage::Reason& total = sum.not_checkable[reason];
      if (total.count == 0) {
        total.first_root = entry.first_root;
        total.first_path = entry.first_path;
      }
      total.count += entry.count;
    }
  }
}

}  // namespace cachetool::verify
