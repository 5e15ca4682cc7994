#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "pickle/document.h"

namespace cachetool::pickle {

/// What loading a pickle with Python's own unpickler would do, as far as the pickle itself decides it.
enum class Verdict : std::uint8_t {
  kData,       ///< only constructors that build data, with arguments as torch gives them
  kUnknown,    ///< names or applies something that isn't on the list of those
  kDangerous,  ///< the same, and it is known to run code, touch files or reach the network
};

/// "data", "unknown", "dangerous".
std::string_view verdict_name(Verdict verdict);

struct PolicyFinding {
  Verdict verdict = Verdict::kUnknown;
  std::string subject;       ///< "os.system", or what kind of thing was applied
  std::string reason;        ///< a clause for a person
  std::uint64_t offset = 0;  ///< of the opcode in the pickle that holds it
  std::uint32_t depth = 0;   ///< 0: the pickle itself; 1: a pickle in its bytes, …
  std::uint64_t base = 0;    ///< where that nested pickle starts, counted in the bytes of the outermost one
};

/// What becomes of pickles and torch.save streams inside bytes.
enum class NestedPickles : bool {
  kJudged,  ///< they are looked into
  kLeft,    ///< the caller finds and judges them
};

/// Where a pickle was found: it decides what its persistent ids may mean.
enum class PickleSource : std::uint8_t {
  kFile,          ///< by itself
  kInsidePickle,  ///< in bytes of another pickle
  kTorchStream,   ///< one of torch.save's
};

struct PolicyLimits {
  NestedPickles nested = NestedPickles::kJudged;
  PickleSource source = PickleSource::kFile;
  std::uint32_t max_findings = 100;  ///< kept; all are counted
  std::uint32_t max_depth = 8;       ///< of pickles inside bytes
  std::uint32_t max_nested = 10'000;
};

/// The verdict with its coverage. Judges what loading applies (REDUCE, NEWOBJ, OBJ, INST, BUILD, appends and
/// items), calls that were dropped too, every global that is named, and pickles and torch.save streams inside
/// bytes. What torch does later with loaded data (it imports the wrapper module's text and opens the shared
/// objects that an entry names) is not the pickle's doing and not judged here.
struct PolicyReport {
  Verdict verdict = Verdict::kData;
  std::vector<PolicyFinding> findings;  ///< in the order of the bytes per nesting level, at most max_findings
  std::uint64_t total_findings = 0;
  std::uint64_t globals = 0;         ///< distinct names seen, nested pickles included
  std::uint64_t calls = 0;           ///< applications judged
  std::uint64_t nested_pickles = 0;  ///< looked into
  std::uint64_t nested_bytes = 0;    ///< their size
  std::uint64_t opaque_bytes = 0;    ///< values of type bytes that are no pickle, as a sum
  bool complete = true;  ///< false when a limit kept something from being judged; that is a finding as well
};

/// Judges a decoded pickle. `budget` pays for the walk and for the nested pickles. Linear in what was
/// decoded.
PolicyReport judge(const Document& document, Budget& budget, const PolicyLimits& limits = {});

/// Verdict on a name alone, as when it is looked up and stored.
Verdict classify_global(std::string_view module, std::string_view name);

}  // namespace cachetool::pickle
