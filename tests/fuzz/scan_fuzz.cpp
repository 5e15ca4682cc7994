// Scanning any bytes ends, within its limits, with a verdict that fits its findings.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "verify/scan/scan_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cachetool::verify;
  if (size == 0) return 0;
  ScanLimits limits;
  limits.max_expanded_bytes = 1 << 20;
  limits.max_pieces = 2000;
  ScanHints hints;
  hints.expect = static_cast<Expect>(data[0] % 3);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const FileScan scan = scan_bytes(bytes, hints, limits);
  if (scan.expanded_bytes > limits.max_expanded_bytes) std::abort();
  if (scan.findings.size() > scan.total_findings) std::abort();
  if ((scan.total_findings > 0) != (scan.verdict > ScanVerdict::kUnscanned)) std::abort();
  if (!scan.unscanned.empty() && scan.verdict < ScanVerdict::kUnscanned) std::abort();
  if (scan.pickles > 0 && scan.verdict == ScanVerdict::kNone) std::abort();
  if (hints.expect == Expect::kPickle && scan.verdict == ScanVerdict::kNone) std::abort();
  for (const ScanFinding& finding : scan.findings) {
    if (finding.place.empty() && finding.offset > bytes.size()) std::abort();
  }
  return 0;
}
