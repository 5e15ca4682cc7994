#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cachetool::verify {

/// What loading something would do as far as its pickles and expressions decide it. Ordered: a higher one is
/// worse. Nothing is "safe": what carries code is told apart (FileScan::code).
enum class ScanVerdict : std::uint8_t {
  kNone,       ///< no pickle in it
  kData,       ///< only constructors that build data
  kUnscanned,  ///< some of it is beyond a limit, so nobody looked at it
  kUnknown,    ///< names or applies something that isn't on the list of what builds data
  kMalformed,  ///< breaks the rules of its format: readers may disagree about what it is
  kDangerous,  ///< is known to run code, touch files or reach the network
};

/// "none", "data", "unscanned", "unknown", "malformed", "dangerous".
std::string_view verdict_name(ScanVerdict verdict);

/// What kind of thing a finding is about.
enum class ScanSubject : std::uint8_t {
  kName,        ///< a global that a pickle looks up or applies
  kPickle,      ///< a pickle as such: broken, or with something that no pickler writes
  kExpression,  ///< text that torch gives to Python's eval
  kContainer,   ///< an archive or frame
};

/// "name", "pickle", "expression", "container".
std::string_view subject_name(ScanSubject subject);

/// One thing that speaks against loading.
struct ScanFinding {
  ScanVerdict verdict = ScanVerdict::kUnknown;  ///< kUnknown, kMalformed or kDangerous
  ScanSubject subject = ScanSubject::kPickle;
  std::string name;          ///< "os.system", "guards_expr", "stack-leftovers", "zip"
  std::string reason;        ///< a clause for a person
  std::string place;         ///< inside the file, "!" between levels; empty: the file's own bytes
  std::uint64_t offset = 0;  ///< bytes, in the file, or in what `place` names where that was unpacked
};

/// Code that torch, vLLM or Python will run when it gets this file, although its pickles may be pure data.
struct CodeItem {
  std::string_view what;    ///< "source_code", "module", "cubin", …: see docs/manual.md; a literal
  std::uint64_t count = 0;  ///< of pieces
  std::uint64_t bytes = 0;  ///< of text or machine code
};

/// A part that wasn't looked at.
struct Unscanned {
  std::string place;  ///< as in ScanFinding
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< its size, as far as it is known
  std::string reason;       ///< a clause for a person
};

/// What one file is, what it would do, and how much of it was looked at.
struct FileScan {
  std::string_view content;  ///< "pickle", "zip", "tar", "elf", "text", …; a literal
  ScanVerdict verdict = ScanVerdict::kNone;
  std::vector<ScanFinding> findings;  ///< sorted by place and offset; at most ScanLimits::max_findings
  std::uint64_t total_findings = 0;
  std::vector<CodeItem> code;        ///< sorted by name
  std::vector<Unscanned> unscanned;  ///< at most ScanLimits::max_findings
  std::uint64_t pickles = 0;         ///< judged, nested ones too
  std::uint64_t expressions = 0;     ///< parsed
  std::uint64_t bytes = 0;           ///< size of the file
  std::uint64_t expanded_bytes = 0;  ///< of what was decompressed

  bool carries_code() const { return !code.empty(); }
};

struct ScanLimits {
  std::uint64_t max_file_bytes = std::uint64_t{1} << 30;      ///< larger files aren't read
  std::uint64_t max_expanded_bytes = std::uint64_t{1} << 30;  ///< of all that one file unpacks to
  std::uint64_t max_memory = 0;        ///< for decoding; 0: 64 times the size of what is decoded and 4 MiB
  std::uint32_t max_depth = 16;        ///< of things inside things
  std::uint32_t max_pieces = 200'000;  ///< things inside one file that are looked into
  std::uint32_t max_findings = 100;    ///< kept of each file; all are counted
};

}  // namespace cachetool::verify
