#include "replay/replay.h"

#include <fmt/format.h>

#include <utility>

#include "replay/aot_graphs.h"
#include "replay/constants.h"
#include "replay/post_compile.h"
#include "replay/supplied_constants.h"
#include "store/lookup.h"

namespace cachetool::replay {
namespace {

using store::OpenedEntry;
using store::Source;
using torch::CompiledFxGraph;
using torch::ReleaseFamily;

EntryPlace place_of(const OpenedEntry& entry) {
  return {entry.key, entry.leaf, entry.path};
}

Role role_of(const torch::OutputCode& code) {
  const auto* graph = std::get_if<CompiledFxGraph>(&code);
  if (graph == nullptr || !graph->fx_kwargs) return Role::kUnknown;
  if (graph->fx_kwargs->is_backward.value_or(false)) return Role::kBackward;
  if (!graph->fx_kwargs->is_inference) return Role::kUnknown;
  return *graph->fx_kwargs->is_inference ? Role::kInference : Role::kForward;
}

std::string class_of(const torch::OutputCode& code) {
  if (std::holds_alternative<CompiledFxGraph>(code)) return "CompiledFxGraph";
  if (std::holds_alternative<torch::CompiledAOTI>(code)) return "CompiledAOTI";
  if (std::holds_alternative<torch::RegionalOutputCode>(code)) return "RegionalOutputCode";
  return std::string(std::get<torch::UnknownOutputCode>(code).name);
}

std::int64_t time_of(const torch::OutputCode& code) {
  return std::visit(
      [](const auto& item) -> std::int64_t {
        if constexpr (requires { item.time_taken_ns; }) return item.time_taken_ns.value_or(-1);
        return -1;
      },
      code);
}

// How one graph was reached.
struct Way {
  LoadedBy loaded_by = LoadedBy::kFxGraphCache;
  std::optional<EntryPlace> aot;
  std::optional<Boxes> boxes;  ///< what the forward left; nothing: what the settings say
};

class EntryReplay {
 public:
  EntryReplay(Source& source, const ReplayOptions& options) : source_(source), options_(options) {}

  // The graph of `code`, which `entry` holds.
  GraphReplay graph(const OpenedEntry& entry, const torch::OutputCode& code, Way way) const {
    GraphReplay replay;
    replay.entry = place_of(entry);
    replay.aot = std::move(way.aot);
    replay.role = role_of(code);
    replay.class_name = class_of(code);
    replay.release = entry.release;
    replay.rules = family_of(entry);
    replay.compile_time_ns = time_of(code);
    const auto rules = rules_of(replay.rules);
    if (!rules) {
      replay.decision.reasons.emplace_back("decision not known for this release");
      return replay;
    }
    const auto* graph = std::get_if<CompiledFxGraph>(&code);
    if (graph == nullptr) {
      replay.decision = decide(code, StoredConstants(way.loaded_by), {}, way.boxes.value_or(Boxes{}), *rules);
      return replay;
    }
    replay.evaluated = evaluated(*graph);
    replay.inputs = graph_inputs(*graph);
    replay.settings = settings_for(*graph, options_.settings, *rules);
    replay.before = boxes_of(replay.settings);
    if (way.boxes) take_over(*way.boxes, *rules, replay);
    if (replay.role == Role::kBackward && !way.boxes) assume_forward(*graph, *rules, replay);
    const SuppliedValues* supplied = options_.constants;
    const StoredConstants stored(way.loaded_by);
    replay.decision = supplied != nullptr ? decide(*graph, SuppliedConstants(*supplied), replay.settings,
                                                   replay.before, *rules)
                                          : decide(*graph, stored, replay.settings, replay.before, *rules);
    replay.constants = report_constants(*graph, way.loaded_by, supplied);
    replay.run_time = run_time_notes(*graph, replay.decision, replay.settings, *rules);
    if (entry.place) replay.on_hit = on_hit(*graph, source_, entry.place->store, *rules);
    return replay;
  }

  // Both graphs of an AOTAutograd entry, forward first.
  Expected<std::vector<GraphReplay>> pair(const OpenedEntry& entry) const {
    const torch::AotAutogradEntry& aot = *entry.decoded.aot_entry();
    if (options_.constants != nullptr)
      return fail(ErrorCode::kUsage, "an AOTAutograd entry takes no constants: it doesn't support freezing",
                  entry.path, {}, "give --constants with the FX entry of a graph that was frozen");
    std::vector<GraphReplay> graphs;
    std::optional<Boxes> boxes;
    for (const torch::Field<torch::CompiledGraphRef>* part : {&aot.compiled_fw, &aot.compiled_bw}) {
      if (!*part) continue;
      auto replay = half(entry, **part, boxes);
      if (!replay) return tl::unexpected(replay.error());
      // A forward that isn't known leaves its backward to itself.
      if (replay->decision.outcome != Outcome::kUnknown) boxes = replay->decision.after;
      graphs.push_back(std::move(*replay));
      if (part == &aot.compiled_bw) graphs.back().role = Role::kBackward;
    }
    if (graphs.size() == 2) note_forward(graphs[0], graphs[1]);
    return graphs;
  }

  ReleaseFamily family_of(const OpenedEntry& entry) const {
    return options_.release != ReleaseFamily::kUnknown ? options_.release : rules_family(entry.release);
  }

 private:
  Expected<GraphReplay> half(const OpenedEntry& entry, const torch::CompiledGraphRef& reference,
                             const std::optional<Boxes>& boxes) const {
    const auto rules = rules_of(family_of(entry)).value_or(Rules{});
    const std::uint16_t store = entry.place ? entry.place->store : 0;
    auto found = find_aot_graph(source_, reference, store, rules, options_.limits);
    if (!found) return tl::unexpected(found.error());
    if (found->code == nullptr) {
      GraphReplay replay;
      replay.entry = {std::string(reference.fx_graph_cache_key.value_or({})), "", ""};
      replay.aot = place_of(entry);
      replay.release = entry.release;
      replay.rules = family_of(entry);
      replay.decision.reasons.push_back(found->missing);
      if (boxes) replay.decision.after = *boxes;
      return replay;
    }
    GraphReplay replay = graph(found->entry ? *found->entry : entry, *found->code,
                               {LoadedBy::kAotAutograd, place_of(entry), boxes});
    if (!found->assumption.empty()) replay.assumptions.push_back(found->assumption);
    return replay;
  }

  // What of the forward explains its backward.
  static void note_forward(const GraphReplay& forward, GraphReplay& backward) {
    const Decision& decision = forward.decision;
    if (decision.outcome == Outcome::kUnknown) {
      backward.assumptions.emplace_back("its forward, which isn't known, leaves the boxes as it got them");
    } else if (decision.error) {
      backward.assumptions.emplace_back("torch gets here: it doesn't, because the forward raises first");
    } else if (forward.before.cudagraphs && !decision.after.cudagraphs) {
      backward.forward_state = state_of(forward);
      backward.forward_reasons = decision.reasons;
    }
  }

  // A backward gets what its forward left, except for what the user fixed or the entry holds itself.
  static void take_over(const Boxes& boxes, const Rules& rules, GraphReplay& replay) {
    replay.before.cudagraphs = boxes.cudagraphs;
    if (!rules.index_box_of_entry) replay.before.forward_device_index = boxes.forward_device_index;
  }

  static void assume_forward(const CompiledFxGraph& graph, const Rules& rules, GraphReplay& replay) {
    if (rules.index_box_of_entry || !replay.before.cudagraphs) return;
    if (replay.settings.forward_device_index.origin == SettingOrigin::kGiven) return;
    const torch::Ints devices = graph.device_idxs.value_or({});
    if (devices.empty()) return;
    replay.before.forward_device_index.value = devices[0];
    replay.assumptions.push_back(fmt::format(
        "its forward ran on device {}: no AOTAutograd entry of the cache pairs the two", devices[0]));
  }

  Source& source_;
  const ReplayOptions& options_;
};

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kForward:
      return "forward";
    case Role::kBackward:
      return "backward";
    case Role::kInference:
      return "inference";
    case Role::kUnknown:
      break;
  }
  return "unknown";
}

Expected<std::vector<GraphReplay>> replay_opened(Source& source, const OpenedEntry& entry,
                                                 const ReplayOptions& options) {
  const EntryReplay replay(source, options);
  if (entry.decoded.aot_entry() != nullptr) return replay.pair(entry);
  const torch::OutputCode* code = entry.decoded.output_code();
  if (code == nullptr)
    return fail(ErrorCode::kWrongType, "holds no compiled graph but " + entry.decoded.class_name(),
                entry.path);
  std::vector<GraphReplay> graphs;
  graphs.push_back(replay.graph(entry, *code, {}));
  return graphs;
}

Expected<std::vector<GraphReplay>> replay_entry(Source& source, const store::EntryRef& ref,
                                                const ReplayOptions& options) {
  const auto entry = store::open_entry(source, ref, options.limits);
  if (!entry) return tl::unexpected(entry.error());
  return replay_opened(source, *entry, options);
}

}  // namespace cachetool::replay
