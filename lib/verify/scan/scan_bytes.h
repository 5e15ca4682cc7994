#pragma once

#include <string_view>

#include "verify/scan/large_gate.h"
#include "verify/scan/piece.h"
#include "verify/scan/scan_result.h"

namespace cachetool::verify {

/// What is known about bytes besides themselves.
struct ScanHints {
  std::string_view name = {};  ///< of the file; only adds to what the content says
  Expect expect = Expect::kAnything;
  std::string_view code = {};  ///< what the file is run as, whatever its content ("module"); a literal
  bool only_read = false;      ///< text for people or data that nobody runs, whatever it is called
};

/// Judges bytes: every pickle in them (as a file, in archives, compressed, inside each other, in texts),
/// every expression that torch evaluates, and what code they carry. Nothing is executed, imported or written.
/// Never fails: what can't be judged is in the result. Time and memory are bounded by `limits`; a broken
/// pickle is judged up to where it breaks, for it has acted by then.
FileScan scan_bytes(std::string_view bytes, const ScanHints& hints = {}, const ScanLimits& limits = {});
/// The same beside other scans.
FileScan scan_bytes(std::string_view bytes, const ScanHints& hints, const ScanLimits& limits,
                    LargePass& pass);

/// The same for a file of which only the beginning was read, because that tells what it is (told_by_head).
FileScan scan_head(std::string_view head, std::uint64_t size, const ScanHints& hints);

}  // namespace cachetool::verify
