#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/finding.h"

namespace cachetool::verify {

/// How often a check looked, and what it couldn't judge.
struct Coverage {
  struct Reason {
    std::uint64_t count = 0;
    std::uint32_t first_root = 0;
    std::string first_path;  ///< below that root
  };
  std::uint64_t checked = 0;
  std::map<std::string, Reason> not_checkable;  ///< by reason
};

/// By check; the order of the pointers never shows.
using CoverageTable = std::map<const Check*, Coverage>;

/// Adds the counts of `from` to `to`.
void merge_coverage(CoverageTable& to, const CoverageTable& from);

/// What a finding says besides its check and place.
struct FindingText {
  std::string message;
  std::optional<std::uint64_t> offset = {};
  std::string hint = {};
  std::vector<std::string> repair = {};  ///< see Finding::repair
  std::string key = {};
};

/// Collects what checks say about one file (or one relation between files). Not thread safe: one per file.
class FileReport {
 public:
  FileReport(std::uint32_t root, std::string path) : root_(root), path_(std::move(path)) {}

  /// Which releases may have written the file: later findings take their severity from it.
  void set_release(torch::ReleaseFamily first, torch::ReleaseFamily last) {
    first_ = first;
    last_ = last;
  }
  /// KEY or KEY/LEAF that later findings name.
  void set_key(std::string key) { key_ = std::move(key); }

  /// `check` looked and found nothing wrong.
  void fine(const Check& check) { ++coverage_[&check].checked; }
  /// `check` looked and found something. Counts as checked.
  void found(const Check& check, FindingText text, std::optional<Severity> severity = {});
  /// `check` can't be applied here: `reason` is a clause. Never counts as fine.
  void not_checkable(const Check& check, std::string reason);
  /// `found` with what `problem()` says when there is something, else `fine`.
  template <class Problem>
  void judge(const Check& check, Problem&& problem) {
    std::optional<FindingText> text = problem();
    if (text) return found(check, std::move(*text));
    fine(check);
  }

  /// Adds what another report says: that of a part of this file, with a path such as "FILE!inductor/f…".
  void add(FileReport part) {
    merge_coverage(coverage_, part.coverage_);
    for (Finding& finding : part.findings_) findings_.push_back(std::move(finding));
  }

  std::uint32_t root() const { return root_; }
  const std::string& path() const { return path_; }
  const std::vector<Finding>& findings() const { return findings_; }
  std::vector<Finding> take_findings() { return std::move(findings_); }
  const CoverageTable& coverage() const { return coverage_; }

 private:
  std::uint32_t root_;
  std::string path_;
  std::string key_;
  torch::ReleaseFamily first_ = torch::ReleaseFamily::kUnknown;
  torch::ReleaseFamily last_ = torch::ReleaseFamily::kUnknown;
  std::vector<Finding> findings_;
  CoverageTable coverage_;
};

}  // namespace cachetool::verify
