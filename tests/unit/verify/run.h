#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "unit/store/trees.h"
#include "verify/verify.h"

/// Runs verify over trees in memory.
namespace verify_tests {

inline cachetool::verify::Result verify_tree(cachetool::FileSystem& fs, const std::string& path,
                                             const cachetool::verify::Options& options = {}) {
  const auto source = store_tests::open_source(fs, path);
  if (source == nullptr) return {};
  cachetool::ThreadPool pool(1);
  auto result = cachetool::verify::verify(fs, *source, pool, options);
  return result ? std::move(*result) : cachetool::verify::Result{};
}

/// "severity id path", in the order of the result.
inline std::vector<std::string> lines_of(const cachetool::verify::Result& result) {
  std::vector<std::string> lines;
  for (const auto& finding : result.findings) {
    lines.push_back(std::string(severity_name(finding.severity)) + " " + std::string(finding.check->id) +
                    " " + finding.path);
  }
  return lines;
}

inline std::vector<std::string> verify_lines(cachetool::FileSystem& fs, const std::string& path,
                                             const cachetool::verify::Options& options = {}) {
  return lines_of(verify_tree(fs, path, options));
}

using Lines = std::vector<std::string>;

}  // namespace verify_tests
