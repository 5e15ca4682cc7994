#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"
#include "report/format.h"
#include "store/cache_set.h"
#include "verify/repair.h"
#include "verify/verify.h"

namespace cachetool::report {

/// What verify said about one cache.
struct VerifiedCache {
  const store::CacheSet& cache;
  const verify::Result& result;
  const std::vector<verify::RootRepair>* repairs = nullptr;  ///< null: no repair was asked for
};

struct VerifyReport {
  std::vector<VerifiedCache> caches;
  verify::Depth depth = verify::Depth::kDefault;
  std::string_view version;  ///< of cachetool, for SARIF

  std::uint64_t count(verify::Severity severity) const;
};

/// "quick", "default", "deep".
std::string_view depth_name(verify::Depth depth);

/// Writes the report: sections by severity with what to do next, or cachetool.verify/1.
void write_verify(OutputSink& sink, const VerifyReport& report, Format format, const Look& look);

/// The repairs alone, for whoever has seen the rest and said yes: a section, or the document once more.
void write_repairs(OutputSink& sink, const VerifyReport& report, Format format, const Look& look);

// The same, by form.
void write_verify_text(OutputSink& sink, const VerifyReport& report, const Look& look);
void write_verify_json(OutputSink& sink, const VerifyReport& report);
void write_verify_json_lines(OutputSink& sink, const VerifyReport& report);
/// SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format): one run, a rule for every check that found
/// something, byte offsets as regions, each root as a base of its own.
void write_verify_sarif(OutputSink& sink, const VerifyReport& report);

}  // namespace cachetool::report
