#pragma once

#include <initializer_list>

#include "unit/verify/run.h"
#include "verify/entry_checks.h"
#include "verify/source_checks.h"
#include "verify/structure_checks.h"

/// Findings about files by themselves: what a tree lacks around the file under test is left out.
namespace verify_tests {

inline bool is_about_one_file(const cachetool::verify::Check* check) {
  using namespace cachetool::verify;
  for (const CheckGroup& group : {entry_checks(), source_checks(), structure_checks()})
    for (const Check* other : group.checks)
      if (other == check) return true;
  return false;
}

inline cachetool::verify::Result own_result(cachetool::FileSystem& fs,
                                            const cachetool::verify::Options& options = {}) {
  cachetool::verify::Result result = verify_tree(fs, "/cache", options);
  std::erase_if(result.findings,
                [](const cachetool::verify::Finding& finding) { return !is_about_one_file(finding.check); });
  return result;
}

/// "severity id" of each.
inline Lines ids_of(const cachetool::verify::Result& result) {
  Lines lines;
  for (const auto& finding : result.findings)
    lines.push_back(std::string(severity_name(finding.severity)) + " " + std::string(finding.check->id));
  return lines;
}

inline Lines own_ids(cachetool::FileSystem& fs, const cachetool::verify::Options& options = {}) {
  return ids_of(own_result(fs, options));
}

/// How often a check was applied and found nothing to say, and how often it couldn't be.
inline std::uint64_t checked(const cachetool::verify::Result& result, const cachetool::verify::Check& check) {
  const auto found = result.coverage.find(&check);
  return found == result.coverage.end() ? 0 : found->second.checked;
}
inline std::uint64_t not_checkable(const cachetool::verify::Result& result,
                                   const cachetool::verify::Check& check) {
  const auto found = result.coverage.find(&check);
  if (found == result.coverage.end()) return 0;
  std::uint64_t count = 0;
  for (const auto& [reason, entry] : found->second.not_checkable) count += entry.count;
  return count;
}

}  // namespace verify_tests
