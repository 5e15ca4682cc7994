#include "replay/aot_graphs.h"

#include <fmt/format.h>

#include "torch/key.h"

namespace cachetool::replay {
namespace {

// How torch judges a candidate's guards on behalf of an AOTAutograd entry.
GuardJudge judge_for(const torch::CompiledGraphRef& reference, const Rules& rules, const SizeValues* sizes) {
  if (rules.guarded_lookup) {
    return [&reference](std::string_view guards) -> GuardAnswer {
      if (reference.fx_graph_guard_expr && *reference.fx_graph_guard_expr == guards)
        return {GuardVerdict::kTrue, "they are those that the AOTAutograd entry recorded", std::nullopt};
      return {GuardVerdict::kFalse, "they aren't those that the AOTAutograd entry recorded", std::nullopt};
    };
  }
  if (sizes != nullptr) return [sizes](std::string_view guards) { return evaluate_guards(guards, *sizes); };
  return [](std::string_view) -> GuardAnswer {
    return {GuardVerdict::kUnknown, "torch evaluates them with the sizes at hand", std::nullopt};
  };
}

std::string why_missing(const CandidateWalk& walk, std::string_view key, const Rules& rules) {
  if (walk.raised) {
    return fmt::format("looking for the FX entry of key {} raises {}: torch bypasses the AOTAutograd cache",
                       key, describe(*walk.raised));
  }
  if (walk.result == LookupResult::kGuardMiss) {
    for (const Candidate& candidate : walk.candidates) {
      if (candidate.status == CandidateStatus::kOtherLibraries)
        return fmt::format("the FX entry of key {} is {}: torch counts a miss", key, candidate.message);
    }
    return fmt::format("no FX entry of key {} has {}: torch counts a miss", key,
                       rules.guarded_lookup ? "the recorded guards" : "guards that hold for these sizes");
  }
  if (walk.candidates.empty())
    return fmt::format("no FX entry of key {}: torch counts a miss and compiles again", key);
  return fmt::format("no FX entry of key {} can be loaded: torch counts a miss", key);
}

}  // namespace

std::optional<store::KeyRef> graph_key(const torch::CompiledGraphRef& reference, std::uint16_t store) {
  const auto key = torch::HashName::parse(reference.fx_graph_cache_key.value_or({}));
  if (!key || key->prefix != 'f') return std::nullopt;
  return store::KeyRef{*key, torch::EntryKind::kFxGraph, store};
}

Expected<AotGraph> find_aot_graph(store::Source& source, const torch::CompiledGraphRef& reference,
                                  std::uint16_t store, const Rules& rules, const GraphContext& context) {
  AotGraph graph;
  if (reference.result != nullptr) {
    graph.code = reference.result.get();
    return graph;
  }
  const std::string_view key_text = reference.fx_graph_cache_key.value_or({});
  const auto key = graph_key(reference, store);
  if (!key) {
    graph.missing = fmt::format("'{}' is no key of an FX graph", key_text);
    return graph;
  }
  // The graphs lie elsewhere than the entry that the user may have pointed at.
  auto walk = find_graph(source.whole(), *key, judge_for(reference, rules, context.sizes),
                         context.extern_libs, rules, context.limits);
  if (!walk) return tl::unexpected(walk.error());
  const bool found = walk->entry && walk->entry->decoded.output_code() != nullptr;
  if (found) {
    graph.entry = std::make_unique<store::OpenedEntry>(std::move(*walk->entry));
    graph.code = graph.entry->decoded.output_code();
    if (walk->result == LookupResult::kUnknown) {
      const Candidate& chosen = walk->candidates[*walk->chosen];
      graph.assumption = chosen.status == CandidateStatus::kGuardsUnknown
                             ? fmt::format("the guards of {} hold: {}", chosen.path, chosen.message)
                             : fmt::format("no candidate before {} is used", chosen.path);
    }
  } else {
    graph.missing = walk->result == LookupResult::kUnknown
                        ? fmt::format("whether torch can load an FX entry of key {} isn't known", key_text)
                        : why_missing(*walk, key_text, rules);
  }
  walk->entry.reset();
  graph.walk = std::move(*walk);
  return graph;
}

}  // namespace cachetool::replay
