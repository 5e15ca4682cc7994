#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "verify/scan/scan_tree.h"

namespace cachetool::report {

/// One argument of scan with its result.
struct ScannedTarget {
  verify::ScanTarget target;
  verify::TreeScan result;
};

/// What all arguments came to.
struct ScanSummary {
  std::vector<ScannedTarget> targets;
  verify::ScanCoverage coverage;
  verify::ScanVerdict verdict = verify::ScanVerdict::kNone;  ///< the worst
};

/// Which files a person is shown.
enum class ScanRows : bool { kFindings, kAll };

/// Writes a scan while it goes on. JSON comes out file by file; text keeps what speaks against loading, and
/// all files only when they are asked for.
class ScanWriter {
 public:
  virtual ~ScanWriter() = default;
  /// A file of a target, in the order of the scan.
  virtual void file(const verify::ScanTarget& target, const verify::ScannedFile& file) = 0;
  /// The end: what was left out, owners, sums.
  virtual void finish(const ScanSummary& summary) = 0;
};

std::unique_ptr<ScanWriter> make_scan_writer(OutputSink& sink, Format format, const Look& look,
                                             ScanRows rows);

// The formats, as make_scan_writer chooses them.
std::unique_ptr<ScanWriter> make_scan_text(OutputSink& sink, const Look& look, ScanRows rows);
std::unique_ptr<ScanWriter> make_scan_json(OutputSink& sink);
std::unique_ptr<ScanWriter> make_scan_json_lines(OutputSink& sink);

/// "source_code (12.0 KiB), 3 cubins (1.1 MiB)".
std::string code_in_words(const std::vector<verify::CodeItem>& code, const Look& look);

}  // namespace cachetool::report
