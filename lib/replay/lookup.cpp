#include "replay/lookup.h"

#include <fmt/format.h>

#include "replay/aot_graphs.h"
#include "replay/loadable.h"

namespace cachetool::replay {
namespace {

using store::KeyRef;
using torch::EntryKind;
using torch::ReleaseFamily;

// Copies what a walk found out.
void take_walk(const CandidateWalk& walk, KeyLookup& found) {
  found.result = walk.result;
  found.candidates = walk.candidates;
  found.guards_expr = walk.guards_expr;
  found.raised = walk.raised;
  if (walk.result != LookupResult::kHit) return;
  found.leaf = walk.candidates[*walk.chosen].leaf;
  found.path = walk.candidates[*walk.chosen].path;
}

const Candidate* first_of(const std::vector<Candidate>& candidates, CandidateStatus status) {
  for (const Candidate& candidate : candidates) {
    if (candidate.status == status) return &candidate;
  }
  return nullptr;
}

// What became of the candidates, in one sentence.
std::string sentence(const KeyLookup& found) {
  switch (found.result) {
    case LookupResult::kHit: {
      const Candidate* used = first_of(found.candidates, CandidateStatus::kUsed);
      if (!found.guards_expr) return "it has no guards";
      return used->message.empty() ? "its guards are true" : "its guards are true " + used->message;
    }
    case LookupResult::kGuardMiss:
      if (const Candidate* other = first_of(found.candidates, CandidateStatus::kOtherLibraries))
        return other->message;
      return "no candidate's guards are true";
    case LookupResult::kFullMiss:
      if (found.candidates.empty()) return "there is no candidate";
      return "no candidate loads";
    case LookupResult::kRaises:
    case LookupResult::kBypass:
      return found.raised ? describe(*found.raised) : "torch raises";
    case LookupResult::kUnknown:
      break;
  }
  for (const CandidateStatus status : {CandidateStatus::kGuardsUnknown, CandidateStatus::kMayNotLoad}) {
    if (const Candidate* open = first_of(found.candidates, status)) return open->message;
  }
  return "not known";
}

class Looking {
 public:
  Looking(store::Source& source, const KeyRef& key, const LookupOptions& options)
      : source_(source), key_(key), options_(options) {
    lookup_.key = key.key.str();
    lookup_.kind = key.kind;
    lookup_.hints = options.hints;
  }

  Expected<Lookup> run() {
    const auto rules = choose_rules();
    if (!rules) {
      lookup_.message = "lookup not known for this release";
      return std::move(lookup_);
    }
    auto done = bind_sizes();
    if (done) done = key_.kind == EntryKind::kFxGraph ? look_for_graph(*rules) : look_for_aot(*rules);
    if (!done) return tl::unexpected(done.error());
    return std::move(lookup_);
  }

 private:
  std::optional<Rules> choose_rules() {
    lookup_.rules = options_.release;
    if (lookup_.rules == ReleaseFamily::kUnknown) lookup_.rules = family_of_candidates();
    if (lookup_.rules == ReleaseFamily::kUnknown) {
      lookup_.rules = ReleaseFamily::k2_15;
      lookup_.assumptions.emplace_back("the release is 2.15: no candidate says which one wrote it");
    }
    return rules_of(lookup_.rules);
  }

  // That of the first candidate that tells.
  ReleaseFamily family_of_candidates() {
    ReleaseFamily family = ReleaseFamily::kUnknown;
    for_each_candidate(source_, key_, options_.limits, [&](const store::OpenedEntry& entry) {
      family = rules_family(entry.release);
      const auto oldest = rules_of(entry.release.first);
      const auto followed = rules_of(family);
      if (entry.release.exact.empty() && oldest && followed &&
          oldest->skips_dot_files != followed->skips_dot_files)
        lookup_.assumptions.push_back(
            fmt::format("the release is {}: {} would read files whose names begin with a dot",
                        torch::family_name(family), torch::family_name(entry.release.first)));
      return family == ReleaseFamily::kUnknown;
    });
    return family;
  }

  // What the candidates say about their inputs; the most complete of them, as all of a key have the same.
  std::optional<SizeInputs> inputs_of(const KeyRef& key) {
    std::optional<SizeInputs> best;
    for_each_candidate(source_, key, options_.limits, [&](const store::OpenedEntry& opened) {
      std::optional<SizeInputs> found;
      if (const auto* graph = opened.decoded.fx_graph()) {
        found = size_inputs_of(*graph);
      } else if (const auto* entry = opened.decoded.aot_entry()) {
        found = size_inputs_of(*entry);
        if (auto better = inputs_of_forward(*entry, *found)) found = std::move(better);
      }
      const bool better =
          found && (!best || found->complete || found->expressions.size() > best->expressions.size());
      if (better) best = std::move(found);
      return !best || !best->complete;
    });
    return best;
  }

  // Before 2.8 only the forward graph's own entry tells.
  std::optional<SizeInputs> inputs_of_forward(const torch::AotAutogradEntry& entry, const SizeInputs& known) {
    const bool subclasses = entry.runtime_metadata && entry.runtime_metadata->subclass_inputs > 0;
    if (known.complete || subclasses || !entry.compiled_fw) return std::nullopt;
    const auto key = graph_key(*entry.compiled_fw, key_.store);
    if (!key) return std::nullopt;
    return inputs_of(*key);
  }

  Status bind_sizes() {
    auto inputs = inputs_of(key_);
    if (!inputs) {  // nothing can be decoded, so names can't be told from wrong ones
      lookup_.sizes.inputs.reason = "no candidate can be decoded";
      for (const std::int64_t value : options_.hints.by_position()) lookup_.sizes.values.emplace_back(value);
      return {};
    }
    auto bound = bind_hints(options_.hints, std::move(*inputs));
    if (!bound) {
      Error error = bound.error();
      error.path = lookup_.key;
      return tl::unexpected(std::move(error));
    }
    lookup_.sizes = std::move(*bound);
    return {};
  }

  GuardJudge judge() const {
    return [this](std::string_view guards) { return evaluate_guards(guards, lookup_.sizes); };
  }

  void count(std::string name, std::int64_t by = 1) {
    for (auto& [known, value] : lookup_.counters) {
      if (known != name) continue;
      value += by;
      return;
    }
    lookup_.counters.emplace_back(std::move(name), by);
  }

  void take_notes(const CandidateWalk& walk) {
    lookup_.log.insert(lookup_.log.end(), walk.log.begin(), walk.log.end());
    lookup_.assumptions.insert(lookup_.assumptions.end(), walk.assumptions.begin(), walk.assumptions.end());
  }

  Status look_for_graph(const Rules& rules) {
    auto walk = find_graph(source_, key_, judge(), options_.extern_libs, rules, options_.limits);
    if (!walk) return tl::unexpected(walk.error());
    take_walk(*walk, lookup_);
    take_notes(*walk);
    lookup_.message = sentence(lookup_);
    if (lookup_.result == LookupResult::kHit) {
      lookup_.entry = walk->ref;
      count("fxgraph_cache_hit");
    } else if (lookup_.result == LookupResult::kGuardMiss || lookup_.result == LookupResult::kFullMiss) {
      count("fxgraph_cache_miss");
    }
    return {};
  }

  Status look_for_aot(const Rules& rules) {
    auto walk =
        walk_candidates(source_, {key_, CacheClass::kAotAutogradCache, judge()}, rules, options_.limits);
    if (!walk) return tl::unexpected(walk.error());
    take_walk(*walk, lookup_);
    take_notes(*walk);
    lookup_.message = sentence(lookup_);
    switch (lookup_.result) {
      case LookupResult::kGuardMiss:
        count("autograd_cache_guard_miss");
        [[fallthrough]];
      case LookupResult::kFullMiss:
        count("autograd_cache_miss");
        return {};
      case LookupResult::kRaises:  // AOTAutogradCache._lookup catches it (2.8 on)
        lookup_.result = LookupResult::kFullMiss;
        lookup_.log.push_back("AOTAutograd cache unable to load compiled graph: " + lookup_.raised->message);
        lookup_.message = describe(*lookup_.raised) + ", which AOTAutogradCache takes for a miss";
        count("autograd_cache_miss");
        return {};
      case LookupResult::kHit:
        break;
      case LookupResult::kBypass:
      case LookupResult::kUnknown:
        return {};
    }
    return load_entry(*walk, rules);
  }

  // AOTAutogradCacheEntry.wrap_post_compile (2.6), GenericAOTAutogradResult._load_and_post_compile (2.12):
  // the forward graph, then the backward.
  Status load_entry(const CandidateWalk& walk, const Rules& rules) {
    const torch::AotAutogradEntry* entry = walk.entry->decoded.aot_entry();
    const bool is_tuple = !walk.entry->decoded.document.root().is(pickle::Tag::kObject);
    if (entry == nullptr || is_tuple) return wrong_object(*walk.entry);
    if (!entry->compiled_fw) {
      no_hit(LookupResult::kUnknown, "the entry's compiled_fw can't be read");
      return {};
    }
    lookup_.entry = walk.ref;
    for (const torch::Field<torch::CompiledGraphRef>* part : {&entry->compiled_fw, &entry->compiled_bw}) {
      if (!*part) continue;
      const auto goes_on = load_graph(**part, part == &entry->compiled_fw ? "forward" : "backward", rules);
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!*goes_on) return {};
    }
    if (lookup_.result == LookupResult::kHit) count("autograd_cache_hit");
    return {};
  }

  // Whether torch goes on to the next graph.
  Expected<bool> load_graph(const torch::CompiledGraphRef& reference, std::string role, const Rules& rules) {
    auto graph = find_aot_graph(source_, reference, key_.store, rules,
                                {&lookup_.sizes, options_.extern_libs, options_.limits});
    if (!graph) return tl::unexpected(graph.error());
    GraphLookup& found = lookup_.graphs.emplace_back();
    found.role = std::move(role);
    found.bundled = reference.result != nullptr;
    if (found.bundled) return true;
    found.found.key = std::string(reference.fx_graph_cache_key.value_or({}));
    if (!graph->walk) {  // the entry names no key
      found.found.message = graph->missing;
      no_hit(LookupResult::kUnknown, graph->missing);
      return false;
    }
    take_walk(*graph->walk, found.found);
    take_notes(*graph->walk);
    found.found.message = sentence(found.found);
    return judge_graph(found, graph->missing, rules);
  }

  Expected<bool> judge_graph(const GraphLookup& graph, const std::string& missing, const Rules& rules) {
    switch (graph.found.result) {
      case LookupResult::kHit:
        count("fxgraph_cache_hit");
        return true;
      case LookupResult::kGuardMiss:
      case LookupResult::kFullMiss:
        count("fxgraph_cache_miss");
        count("autograd_cache_miss");
        if (!rules.guarded_lookup) count("autograd_cache_guard_miss");
        no_hit(graph.found.result, fmt::format("{} graph: {}", graph.role, missing));
        if (graph.found.result == LookupResult::kGuardMiss) lookup_.guards_expr = graph.found.guards_expr;
        return false;
      case LookupResult::kRaises:
      case LookupResult::kBypass:
        count("autograd_cache_bypass");
        lookup_.raised = graph.found.raised;
        no_hit(LookupResult::kBypass, fmt::format("{} graph: {}", graph.role, missing));
        return false;
      case LookupResult::kUnknown:
        break;
    }
    lookup_.counters.clear();
    no_hit(LookupResult::kUnknown, fmt::format("{} graph: {}", graph.role, graph.found.message));
    return false;
  }

  // Something else than an AOTAutograd entry was found: using it fails, and torch bypasses the cache.
  Status wrong_object(const store::OpenedEntry& entry) {
    if (entry.decoded.document.root().is_none()) {  // before 2.8; the same as nothing at all
      no_hit(LookupResult::kFullMiss, "the file holds None");
      count("autograd_cache_miss");
      return {};
    }
    lookup_.raised = Raised{"AttributeError",
                            fmt::format("'{}' object has no attribute 'wrap_post_compile'", type_of(entry)),
                            "AOTAutogradCache.try_load"};
    count("autograd_cache_bypass");
    no_hit(LookupResult::kBypass, describe(*lookup_.raised));
    return {};
  }

  void no_hit(LookupResult result, std::string message) {
    lookup_.result = result;
    lookup_.message = std::move(message);
    lookup_.entry.reset();
    lookup_.leaf.clear();
    lookup_.path.clear();
    lookup_.guards_expr.reset();
  }

  store::Source& source_;
  const KeyRef& key_;
  const LookupOptions& options_;
  Lookup lookup_;
};

}  // namespace

Expected<Lookup> lookup(store::Source& source, const KeyRef& key, const LookupOptions& options) {
  return Looking(source, key, options).run();
}

}  // namespace cachetool::replay
