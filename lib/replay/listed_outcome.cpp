#include "replay/listed_outcome.h"

#include <algorithm>
#include <string>

#include "replay/cudagraph_state.h"
#include "replay/graph_fields.h"
#include "replay/post_compile.h"
#include "replay/reason_group.h"
#include "replay/rules.h"
#include "replay/settings.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;

struct ListedOutcome {
  CudagraphState state = CudagraphState::kUnknown;
  std::string reason;
};

struct Held {
  const torch::OutputCode* code = nullptr;
  LoadedBy loaded_by = LoadedBy::kFxGraphCache;
};

Held held_graph(const torch::Decoded& decoded) {
  if (const torch::AotAutogradEntry* aot = decoded.aot_entry())
    return {aot->compiled_fw ? aot->compiled_fw->result.get() : nullptr, LoadedBy::kAotAutograd};
  return {decoded.output_code(), LoadedBy::kFxGraphCache};
}

torch::ReleaseFamily family_of(const store::EntryRow& row, const Interner& strings) {
  const torch::ReleaseFamily exact = torch::family_of_version(strings.text(row.summary.exact_release));
  return exact != torch::ReleaseFamily::kUnknown ? exact : row.summary.family_last;
}

bool on_by_key(const CompiledFxGraph& graph, std::string_view option) {
  return graph.key_details && graph.key_details->config(option) == "True";
}

// The outcomes that need no more than the caller's flag and the stored reason. Nothing where it takes more to
// tell: what is wrapped can still raise, for instance over a position that the graph doesn't have.
std::optional<ListedOutcome> quick_outcome(const CompiledFxGraph& graph, const Rules& rules) {
  if (!caller_flag(graph, {}).value)
    return ListedOutcome{
        evaluated(graph) == Evaluated::kYes ? CudagraphState::kNotAsked : CudagraphState::kNotEvaluated, {}};
  if (rules.cudagraph_or_error && on_by_key(graph, "triton.cudagraph_or_error")) return std::nullopt;
  if (const std::string_view reason = graph.disabled_cudagraphs_reason.value_or({}); !reason.empty())
    return ListedOutcome{CudagraphState::kSkipped, reason_group(reason)};
  return std::nullopt;
}

ListedOutcome full_outcome(const torch::OutputCode& code, LoadedBy loaded_by, const Rules& rules) {
  const StoredConstants constants(loaded_by);
  const auto* graph = std::get_if<CompiledFxGraph>(&code);
  if (graph == nullptr) return {state_of(decide(code, constants, {}, {}, rules), Evaluated::kNo), {}};
  Settings settings = settings_for(*graph, {}, rules);
  Boxes boxes = boxes_of(settings);
  assume_forward_ran(*graph, rules, settings, boxes);
  const Decision decision = decide(*graph, constants, settings, boxes, rules);
  ListedOutcome outcome{state_of(decision, evaluated(*graph)), {}};
  for (const std::string& group : reason_groups(decision.reasons))
    outcome.reason += (outcome.reason.empty() ? "" : ", ") + group;
  return outcome;
}

ListedOutcome listed_outcome(const Held& held, torch::ReleaseFamily family) {
  const auto rules = rules_of(family);
  if (!rules) return {CudagraphState::kUnknown, "decision not known for this release"};
  if (const auto* graph = std::get_if<CompiledFxGraph>(held.code);
      graph != nullptr && !unusable_field(*graph)) {
    if (auto outcome = quick_outcome(*graph, *rules)) return std::move(*outcome);
  }
  return full_outcome(*held.code, held.loaded_by, *rules);
}

}  // namespace

void note_outcome(const torch::Decoded& decoded, store::EntryRow& row, Interner& strings) {
  const Held held = held_graph(decoded);
  if (held.code == nullptr) return;
  const ListedOutcome outcome = listed_outcome(held, family_of(row, strings));
  row.outcome = strings.intern(state_name(outcome.state));
  row.outcome_reason = strings.intern(outcome.reason);
}

}  // namespace cachetool::replay
