#include "replay/replay.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "replay/aot_graphs.h"
#include "replay/constants.h"
#include "replay/nested_graphs.h"
#include "replay/pairing.h"
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
  std::optional<Boxes> boxes;                ///< what the forward left; nothing: what the settings say
  std::set<std::string>* written = nullptr;  ///< by the forward's load; see Hit
};

Hit hit_of(const Way& way, const OpenedEntry& entry) {
  Hit hit;
  hit.held_by = entry.decoded.aot_entry() != nullptr ? HeldBy::kAotEntry : HeldBy::kFxEntry;
  if (entry.place) hit.store = entry.place->store;
  hit.written = way.written;
  return hit;
}

// torch finds no graph, or doesn't come to its post-compile.
void leave_undecided(GraphReplay& replay, std::string reason) {
  replay.decision = {};
  replay.decision.after = replay.before;
  replay.decision.reasons.push_back(std::move(reason));
  replay.run_time.clear();
}

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
      if (const auto* regional = std::get_if<torch::RegionalOutputCode>(&code)) {
        Budget budget = options_.limits.budget(regional->serialized_graph_module.value_or({}).size());
        replay.nested_graphs = nested_graphs(*regional, budget);
      }
      // Its post-compile reads no settings; the boxes pass through.
      replay.settings = settings_for(CompiledFxGraph{}, options_.settings, *rules);
      replay.before = way.boxes.value_or(boxes_of(replay.settings));
      replay.decision = decide(code, StoredConstants(way.loaded_by), replay.settings, replay.before, *rules);
      return replay;
    }
    replay.evaluated = evaluated(*graph);
    replay.inputs = graph_inputs(*graph);
    replay.settings = settings_for(*graph, options_.settings, *rules);
    replay.before = boxes_of(replay.settings);
    if (way.boxes) take_over(*way.boxes, *rules, replay);
    if (!way.boxes) assume_forward(*graph, *rules, replay);
    const SuppliedValues* supplied = options_.constants;
    const StoredConstants stored(way.loaded_by);
    replay.decision = supplied != nullptr ? decide(*graph, SuppliedConstants(*graph, *supplied),
                                                   replay.settings, replay.before, *rules)
                                          : decide(*graph, stored, replay.settings, replay.before, *rules);
    replay.constants = report_constants(*graph, way.loaded_by, supplied);
    replay.run_time = run_time_notes(*graph, replay.decision, replay.settings, *rules);
    replay.on_hit = on_hit(*graph, source_, hit_of(way, entry), *rules);
    return replay;
  }

  // Both graphs of an AOTAutograd entry, forward first.
  Expected<std::vector<GraphReplay>> pair(const OpenedEntry& entry) const {
    const torch::AotAutogradEntry& aot = *entry.decoded.aot_entry();
    if (options_.constants != nullptr)
      return fail(ErrorCode::kUsage, "an AOTAutograd entry takes no constants: it doesn't support freezing",
                  entry.path, {}, "give --constants with the FX entry of a graph that was frozen");
    const Rules rules = rules_of(family_of(entry)).value_or(Rules{});
    Found forward;
    Found backward;
    // Every entry has a forward; only None or nothing at all means that there is no backward.
    if (!aot.compiled_fw) forward.broken = "compiled_fw holds what torch never writes there";
    if (aot.compiled_bw.state() == torch::FieldState::kMalformed)
      backward.broken = "compiled_bw holds what torch never writes there";
    if (const auto found = find(entry, aot.compiled_fw, rules, forward); !found)
      return tl::unexpected(found.error());
    if (const auto found = find(entry, aot.compiled_bw, rules, backward); !found)
      return tl::unexpected(found.error());
    std::vector<GraphReplay> graphs;
    std::set<std::string> written;
    std::optional<Boxes> boxes;
    if (forward.present()) {
      graphs.push_back(half(entry, forward, boxes, written));
      if (graphs.back().role == Role::kUnknown)
        graphs.back().role = backward.present() ? Role::kForward : Role::kInference;
      if (backward.missing() && !forward.missing() && rules.post_compile_after_both)
        leave_undecided(graphs.back(),
                        "its backward is missing: torch counts a miss before any post-compile");
      // A forward that isn't known leaves its backward to itself.
      if (graphs.back().decision.outcome != Outcome::kUnknown) boxes = graphs.back().decision.after;
    }
    if (backward.present()) {
      graphs.push_back(half(entry, backward, boxes, written));
      graphs.back().role = Role::kBackward;
      if (forward.missing() && !backward.missing()) {
        leave_undecided(graphs.back(),
                        "its forward is missing: torch counts a miss before it comes to this one");
        graphs.back().on_hit = {};
      }
    }
    if (!graphs.empty() && graphs.front().role == Role::kUnknown && forward.reference != nullptr)
      graphs.front().role = backward.reference != nullptr ? Role::kForward : Role::kInference;
    if (graphs.size() == 2) note_forward(graphs[0], graphs[1]);
    return graphs;
  }

  // An entry whose graphs aren't looked at: it stands for none.
  GraphReplay unusable(const OpenedEntry& entry, const std::string& why) const {
    GraphReplay replay;
    replay.entry = place_of(entry);
    replay.class_name = entry.decoded.class_name();
    replay.class_name.erase(0, replay.class_name.rfind('.') + 1);
    replay.release = entry.release;
    replay.rules = family_of(entry);
    replay.counted = false;
    leave_undecided(replay, why);
    return replay;
  }

  ReleaseFamily family_of(const OpenedEntry& entry) const {
    return options_.release != ReleaseFamily::kUnknown ? options_.release : rules_family(entry.release);
  }

 private:
  // One graph that an AOTAutograd entry names.
  struct Found {
    const torch::CompiledGraphRef* reference = nullptr;  ///< null: the entry has no such graph
    AotGraph graph;
    std::string broken;  ///< why the entry doesn't tell which graph it is; empty where it does
    bool present() const { return reference != nullptr || !broken.empty(); }
    bool missing() const { return present() && graph.code == nullptr; }
  };

  Status find(const OpenedEntry& entry, const torch::Field<torch::CompiledGraphRef>& field,
              const Rules& rules, Found& found) const {
    if (!field) return {};
    found.reference = &*field;
    const std::uint16_t store = entry.place ? entry.place->store : 0;
    auto graph = find_aot_graph(source_, *field, store, rules,
                                {options_.sizes, options_.extern_libs, options_.limits});
    if (!graph) return tl::unexpected(graph.error());
    found.graph = std::move(*graph);
    return {};
  }

  GraphReplay half(const OpenedEntry& entry, const Found& found, const std::optional<Boxes>& boxes,
                   std::set<std::string>& written) const {
    if (found.missing()) {
      GraphReplay replay;
      replay.entry = found.reference == nullptr
                         ? place_of(entry)
                         : EntryPlace{std::string(found.reference->fx_graph_cache_key.value_or({})), "", ""};
      replay.aot = place_of(entry);
      replay.release = entry.release;
      replay.rules = family_of(entry);
      if (boxes) replay.before = *boxes;
      leave_undecided(replay, found.broken.empty() ? found.graph.missing : found.broken);
      return replay;
    }
    GraphReplay replay = graph(found.graph.entry ? *found.graph.entry : entry, *found.graph.code,
                               {LoadedBy::kAotAutograd, place_of(entry), boxes, &written});
    if (!found.graph.assumption.empty()) replay.assumptions.push_back(found.graph.assumption);
    return replay;
  }

  // What of the forward explains its backward.
  static void note_forward(const GraphReplay& forward, GraphReplay& backward) {
    const Decision& decision = forward.decision;
    if (backward.decision.outcome == Outcome::kUnknown) return;
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
    if (const auto device = assume_forward_ran(graph, rules, replay.settings, replay.before))
      replay.assumptions.push_back(fmt::format(
          "its forward ran on device {}: no AOTAutograd entry of the cache pairs the two", *device));
  }

  Source& source_;
  const ReplayOptions& options_;
};

// Why torch can't use what lies in an entry's place; empty where it can, or the file lies in no cache.
std::string unusable_here(const OpenedEntry& entry) {
  if (!entry.place || entry.decoded.class_name().empty()) return {};
  const bool for_aot = entry.place->kind == torch::EntryKind::kAotAutograd;
  if (entry.decoded.aot_entry() != nullptr)
    return for_aot ? "" : "an AOTAutograd entry where torch keeps FX graphs: torch can't use it";
  if (entry.decoded.output_code() == nullptr)
    return entry.decoded.class_name() + " is no class whose post-compile is known";
  return for_aot ? "a compiled graph where torch keeps AOTAutograd entries: torch can't use it" : "";
}

// The backward of `entry` after its forward, where an AOTAutograd entry of the cache pairs them.
std::optional<GraphReplay> decide_in_pair(Source& source, const OpenedEntry& entry,
                                          const ReplayOptions& options) {
  const auto pairing = find_pairing(source, *entry.place, options.limits);
  if (!pairing) return std::nullopt;
  auto pair = replay_opened(source, pairing->aot, options);
  if (!pair || pair->size() != 2 || pair->front().entry.path.empty()) return std::nullopt;
  GraphReplay& backward = pair->back();
  if (backward.entry.path != entry.path) return std::nullopt;  // of another candidate
  if (pairing->others > 0)
    backward.assumptions.push_back(
        fmt::format("it is used with the forward that {} names: {} more {} this graph", pairing->aot.path,
                    pairing->others, pairing->others == 1 ? "entry names" : "entries name"));
  return std::move(backward);
}

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
  std::vector<GraphReplay> graphs;
  if (const std::string why = unusable_here(entry); !why.empty()) {
    graphs.push_back(replay.unusable(entry, why));
    return graphs;
  }
  if (entry.decoded.aot_entry() != nullptr) return replay.pair(entry);
  const torch::OutputCode* code = entry.decoded.output_code();
  if (code == nullptr)
    return fail(ErrorCode::kWrongType, "holds no compiled graph but " + entry.decoded.class_name(),
                entry.path);
  graphs.push_back(replay.graph(entry, *code, {}));
  return graphs;
}

Expected<std::vector<GraphReplay>> replay_entry(Source& source, const store::EntryRef& ref,
                                                const ReplayOptions& options) {
  const auto entry = store::open_entry(source, ref, options.limits);
  if (!entry) return tl::unexpected(entry.error());
  auto graphs = replay_opened(source, *entry, options);
  if (!graphs || graphs->size() != 1 || !entry->place || options.constants != nullptr) return graphs;
  GraphReplay& graph = graphs->front();
  if (graph.role != Role::kBackward || graph.aot) return graphs;
  // Off by its key can mean that its forward was skipped, which is worth telling; off by the user can't.
  const bool off = !graph.before.cudagraphs && graph.settings.cudagraphs.origin == SettingOrigin::kGiven;
  if (off) return graphs;
  if (auto paired = decide_in_pair(source, *entry, options)) graph = std::move(*paired);
  return graphs;
}

}  // namespace cachetool::replay
