#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "replay/candidates.h"
#include "replay/graph_lookup.h"
#include "replay/hints.h"
#include "store/entry_ref.h"
#include "store/source.h"

namespace cachetool::replay {

struct LookupOptions {
  LookupHints hints;
  ExternLibsKey extern_libs;
  torch::ReleaseFamily release = torch::ReleaseFamily::kUnknown;  ///< kUnknown: that of the candidates
  store::ReadLimits limits;
};

/// The lookup of one key in one of torch's two caches, without what follows a hit. Owns everything.
struct KeyLookup {
  std::string key;  ///< in full
  LookupResult result = LookupResult::kUnknown;
  std::string leaf;                        ///< of the candidate used; empty unless it is a hit
  std::string path;                        ///< of its file below the cache's root
  std::optional<std::string> guards_expr;  ///< hit: of the candidate used; guard miss: the last that failed
  std::vector<Candidate> candidates;       ///< in torch's order
  std::string message;                     ///< a sentence for a person
  std::optional<Raised> raised;            ///< also where torch catches it
};

/// An FX graph that an AOTAutograd entry names.
struct GraphLookup {
  std::string role;  ///< "forward", "backward"
  bool bundled = false;
  KeyLookup found;  ///< empty for a bundled one
};

/// What torch's local cache would give to a caller with these sizes. The remote cache isn't asked.
struct Lookup : KeyLookup {
  torch::EntryKind kind = torch::EntryKind::kFxGraph;
  torch::ReleaseFamily rules = torch::ReleaseFamily::kUnknown;
  LookupHints hints;
  SizeValues sizes;                      ///< what L['tN'] are and what the hints make of them
  std::optional<store::EntryRef> entry;  ///< the candidate used
  std::vector<GraphLookup> graphs;       ///< AOTAutograd: those that torch looked for, in its order
  std::vector<std::string> log;          ///< torch's warnings and what it says of a caught exception
  std::vector<std::pair<std::string, std::int64_t>> counters;  ///< what torch counts, under its names
  std::vector<std::string> assumptions;                        ///< sentences: what was taken for granted
};

/// Follows torch from a key to the entry it uses: FxGraphCache.load_with_key, or for an AOTAutograd key
/// AOTAutogradCache.load (2.6 to 2.8), try_load (2.9 on) with _lookup and the loading of its graphs. 2.6 to
/// 2.15. What using the found graph may raise isn't looked into. Errors: kUsage for hints that don't fit (see
/// bind_hints), those of listing the key's directory.
Expected<Lookup> lookup(store::Source& source, const store::KeyRef& key, const LookupOptions& options);

}  // namespace cachetool::replay
