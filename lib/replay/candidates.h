#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/guards.h"
#include "replay/raised.h"
#include "replay/rules.h"
#include "store/opened_entry.h"
#include "store/read_limits.h"
#include "store/source.h"

namespace cachetool::replay {

enum class CandidateStatus : std::uint8_t {
  kUsed,            ///< "used": torch takes it
  kGuardsTrue,      ///< "guards_true": it would, but whether it gets here isn't known
  kGuardsFalse,     ///< "guards_false"
  kGuardsUnknown,   ///< "guards_unknown": a size is missing, or they are no expression of torch's
  kNotLoaded,       ///< "not_loaded": torch warns and tries the next
  kMayNotLoad,      ///< "may_not_load": whether torch can load it isn't known
  kSkipped,         ///< "skipped": torch doesn't look at a file of that name
  kRaises,          ///< "raises": torch raises over it
  kOtherLibraries,  ///< "other_libraries": found, then refused because extern_libs_key differs
  kNotReached,      ///< "not_reached": torch has decided before
};
std::string_view status_word(CandidateStatus status);

/// What happened to one file of a key's directory.
struct Candidate {
  std::string leaf;
  std::string path;  ///< below the cache's root
  CandidateStatus status = CandidateStatus::kNotReached;
  std::optional<std::string> guards_expr;  ///< nothing where it has none or wasn't read
  std::string message;                     ///< a clause for a person; may be empty
};

enum class LookupResult : std::uint8_t {
  kHit,        ///< "hit"
  kGuardMiss,  ///< "guard_miss": there are candidates, none of them fits
  kFullMiss,   ///< "full_miss": there is no candidate that loads
  kRaises,     ///< "raises": torch raises, the compile fails
  kBypass,     ///< "bypass": AOTAutogradCache catches it, compiles, and stores nothing
  kUnknown,    ///< "unknown"
};
std::string_view result_word(LookupResult result);

/// A walk over the candidates of one key, as torch does it. Owns everything but where `entry` reads from.
struct CandidateWalk {
  LookupResult result = LookupResult::kFullMiss;
  std::vector<Candidate> candidates;        ///< in torch's order
  std::optional<std::size_t> chosen;        ///< the candidate that is used, or the first that may be
  std::optional<store::EntryRef> ref;       ///< that one
  std::optional<store::OpenedEntry> entry;  ///< that one, opened
  std::optional<std::string> guards_expr;   ///< hit: of the one used; guard miss: the last that failed
  std::optional<Raised> raised;
  std::vector<std::string> log;          ///< torch's warnings, in its words
  std::vector<std::string> assumptions;  ///< sentences: what was taken for granted
};

/// Which of torch's caches looks.
enum class CacheClass : std::uint8_t { kFxGraphCache, kAotAutogradCache };

/// Judges the guards of a candidate; only asked about guards that aren't empty.
using GuardJudge = std::function<GuardAnswer(std::string_view guards)>;

struct WalkRequest {
  store::KeyRef key;
  CacheClass cache = CacheClass::kFxGraphCache;
  GuardJudge judge;
};

/// Names in the order of Python's sorted(os.listdir()): by code points, where a byte that is no UTF-8 counts
/// as U+DC80 to U+DCFF ("surrogateescape").
bool python_name_before(std::string_view a, std::string_view b);

/// The files of a key's directory as torch reads them: entries and unfinished writes alike, in its order.
std::vector<store::EntryRef> candidate_files(const store::KeyRef& key, const store::KeyListing& listing);

/// Tries the candidates as torch/_inductor/codecache.py does: FxGraphCache._lookup_graph (2.6, 2.7),
/// GuardedCache.iterate_over_candidates and find_guarded_entry (2.8 to 2.15); for an AOTAutograd key before
/// 2.8 only the file `entry`: autograd_cache.py: AOTAutogradCache._lookup (2.6). A key without a directory is
/// a full miss. Errors are those of listing a directory that is there.
Expected<CandidateWalk> walk_candidates(store::Source& source, const WalkRequest& request, const Rules& rules,
                                        const store::ReadLimits& limits);

/// Calls `fn` for each candidate that decodes, until it returns false. Temporaries count. A directory that
/// can't be listed has none.
void for_each_candidate(store::Source& source, const store::KeyRef& key, const store::ReadLimits& limits,
                        const std::function<bool(const store::OpenedEntry&)>& fn);

}  // namespace cachetool::replay
