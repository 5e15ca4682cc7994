#include "replay/graph_lookup.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "replay/loadable.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kLookup = "FxGraphCache._lookup_graph";

void raise(CandidateWalk& walk, Raised raised) {
  Candidate& candidate = walk.candidates[*walk.chosen];
  candidate.status = CandidateStatus::kRaises;
  candidate.message = describe(raised);
  walk.result = LookupResult::kRaises;
  walk.raised = std::move(raised);
}

void check_libraries(const torch::CompiledFxGraph& graph, const ExternLibsKey& machine, CandidateWalk& walk) {
  Candidate& candidate = walk.candidates[*walk.chosen];
  switch (graph.extern_libs_key.state()) {
    case torch::FieldState::kNone:
      return;
    case torch::FieldState::kAbsent:
      return raise(walk, {"AttributeError", "'CompiledFxGraph' object has no attribute 'extern_libs_key'",
                          std::string(kLookup)});
    case torch::FieldState::kMalformed:
      candidate.message = "extern_libs_key is no text";
      candidate.status = CandidateStatus::kGuardsTrue;
      walk.result = LookupResult::kUnknown;
      return;
    case torch::FieldState::kValue:
      break;
  }
  const std::string_view wanted = *graph.extern_libs_key;
  if (!machine.given) {
    walk.assumptions.push_back(fmt::format(
        "the machine's extern libraries are those that {} was made with, {}", candidate.path, wanted));
    return;
  }
  if (machine.key == wanted) return;
  candidate.status = CandidateStatus::kOtherLibraries;
  candidate.message =
      fmt::format("made with extern libraries {}, the machine has {}", wanted, machine.key.value_or("None"));
  walk.result = LookupResult::kGuardMiss;
}

}  // namespace

std::string extern_libs_key_of(std::string_view file_name, std::string_view contents) {
  return fmt::format("{}-{}", file_name.substr(0, file_name.find('.')), to_hex(sha256(contents)));
}

Expected<CandidateWalk> find_graph(store::Source& source, const store::KeyRef& key, const GuardJudge& judge,
                                   const ExternLibsKey& machine, const Rules& rules,
                                   const store::ReadLimits& limits) {
  auto walk = walk_candidates(source, {key, CacheClass::kFxGraphCache, judge}, rules, limits);
  if (!walk || walk->result != LookupResult::kHit) return walk;
  const torch::CompiledFxGraph* graph = walk->entry->decoded.fx_graph();
  if (graph == nullptr) {
    raise(*walk, {"AttributeError",
                  fmt::format("a {} is found where a CompiledFxGraph is expected", type_of(*walk->entry)),
                  std::string(kLookup)});
  } else if (rules.extern_libs_key) {
    check_libraries(*graph, machine, *walk);
  }
  if (walk->result != LookupResult::kHit && walk->result != LookupResult::kUnknown) {
    walk->entry.reset();
    walk->ref.reset();
    walk->chosen.reset();
  }
  return walk;
}

}  // namespace cachetool::replay
