#include "replay/aot_graphs.h"

#include <fmt/format.h>

#include "torch/key.h"

namespace cachetool::replay {
namespace {

// Two guards are equal as Python compares them: None equals None only.
bool same_guard(const torch::Field<std::string_view>& wanted, const torch::Field<std::string_view>& found) {
  if (!wanted && !found) return true;
  return wanted && found && *wanted == *found;
}

bool fits(const torch::CompiledGraphRef& reference, const torch::CompiledFxGraph& graph, const Rules& rules) {
  // torch takes a candidate without guards before it compares anything.
  if (graph.guards_expr.value_or({}).empty()) return true;
  return rules.guarded_lookup && same_guard(reference.fx_graph_guard_expr, graph.guards_expr);
}

}  // namespace

Expected<AotGraph> find_aot_graph(store::Source& source, const torch::CompiledGraphRef& reference,
                                  std::uint16_t store, const Rules& rules, const store::ReadLimits& limits) {
  AotGraph graph;
  if (reference.result != nullptr) {
    graph.code = reference.result.get();
    return graph;
  }
  const std::string_view key_text = reference.fx_graph_cache_key.value_or({});
  const auto key = torch::HashName::parse(key_text);
  if (!key) {
    graph.missing = fmt::format("'{}' is no key of an FX graph", key_text);
    return graph;
  }
  store::Source& whole = source.whole();  // the user may have pointed at the AOTAutograd entry alone
  auto listing = whole.open_key({*key, torch::EntryKind::kFxGraph, store});
  if (!listing) {
    const ErrorCode code = listing.error().code;
    if (code != ErrorCode::kNoSuchKey && code != ErrorCode::kVanished && code != ErrorCode::kNotFound)
      return tl::unexpected(listing.error());
    graph.missing = fmt::format("no FX entry of key {}: torch counts a miss and compiles again", key_text);
    return graph;
  }
  std::optional<store::OpenedEntry> guarded;
  for (const store::EntryRef& candidate : listing->entries) {
    if (rules.skips_dot_files && candidate.leaf.starts_with('.')) continue;
    auto opened = store::open_entry(whole, candidate, limits);
    if (!opened || opened->decoded.fx_graph() == nullptr) continue;  // torch warns and tries the next
    if (fits(reference, *opened->decoded.fx_graph(), rules)) {
      graph.entry = std::make_unique<store::OpenedEntry>(std::move(*opened));
      graph.code = graph.entry->decoded.output_code();
      return graph;
    }
    if (!guarded) guarded = std::move(*opened);
  }
  if (guarded && !rules.guarded_lookup) {
    graph.entry = std::make_unique<store::OpenedEntry>(std::move(*guarded));
    graph.code = graph.entry->decoded.output_code();
    graph.assumption =
        fmt::format("the guards of {} hold: torch evaluates them with the sizes at hand", graph.entry->path);
    return graph;
  }
  graph.missing =
      guarded ? fmt::format("no FX entry of key {} has the recorded guards: torch counts a miss", key_text)
              : fmt::format("no FX entry of key {} can be loaded: torch counts a miss", key_text);
  return graph;
}

}  // namespace cachetool::replay
