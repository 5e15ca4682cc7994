#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/doctor/doctor.h"

namespace cachetool::verify {

/// Collects findings about places and settings.
class Diagnosis {
 public:
  explicit Diagnosis(const DoctorReport& report);

  /// A finding of the check's severity for the torch that is installed here; for an unknown one the worst.
  void add(const Check& check, std::string path, std::string message, std::string hint = {});
  /// The same where this case is worse or better than others of its check.
  void add_as(const Check& check, Severity severity, std::string path, std::string message,
              std::string hint = {});
  void not_checked(const Check& check, std::string path, std::string reason);

  const DoctorReport& report() const { return report_; }
  std::vector<Finding>& findings() { return findings_; }
  std::vector<NotChecked>& left_open() { return not_checked_; }

 private:
  const DoctorReport& report_;
  std::optional<torch::ReleaseFamily> family_;
  std::vector<Finding> findings_;
  std::vector<NotChecked> not_checked_;
};

/// A path as one word of a shell's command line.
std::string shell_word(std::string_view text);

// What is looked for, by subject.
void diagnose_choice(Diagnosis& diagnosis, const store::Environment& environment);
void diagnose_settings(Diagnosis& diagnosis, const store::Environment& environment);
void diagnose_volumes(Diagnosis& diagnosis);
void diagnose_owners(Diagnosis& diagnosis, const store::Environment& environment);
void diagnose_software(Diagnosis& diagnosis);

/// All of it: fills `findings`, the worst first, and `not_checked`.
void diagnose(DoctorReport& report, const store::Environment& environment);

}  // namespace cachetool::verify
