#include "store/compile_time.h"

#include <algorithm>
#include <span>

namespace cachetool::store {
namespace {

// The first candidate of the graph `key` that no entry has claimed yet, or null. Candidates are claimed in
// their order, so the claimed ones come first.
EntryRow* unclaimed_graph(std::span<EntryRow> graphs, const torch::HashName& key) {
  const auto candidates = std::ranges::equal_range(
      graphs, key, {}, [](const EntryRow& row) -> const torch::HashName& { return row.summary.key; });
  const auto first = std::ranges::partition_point(
      candidates, [](const EntryRow& row) { return row.claimed_by != EntryRow::kUnclaimed; });
  return first == candidates.end() ? nullptr : &*first;
}

// Rows of one kind in one store, which are sorted by key.
std::span<EntryRow> run_of(std::vector<EntryRow>& rows, std::size_t begin) {
  std::size_t end = begin;
  while (end < rows.size() && rows[end].store == rows[begin].store &&
         rows[end].summary.kind == rows[begin].summary.kind) {
    ++end;
  }
  return {rows.data() + begin, end - begin};
}

}  // namespace

void attribute_compile_time(std::vector<EntryRow>& rows) {
  std::span<EntryRow> graphs;
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::span<EntryRow> run = run_of(rows, begin);
    if (run.front().summary.kind == torch::EntryKind::kFxGraph) {
      for (EntryRow& row : run) row.compile_time_ns = row.summary.time_taken_ns;
      graphs = run;
    } else {
      if (!graphs.empty() && graphs.front().store != run.front().store) graphs = {};
      for (EntryRow& row : run) {
        const torch::EntrySummary& entry = row.summary;
        std::int64_t graphs_ns = entry.time_taken_ns;  // bundled graphs' own, where they tell it
        for (const torch::HashName& key : {entry.forward_graph, entry.backward_graph}) {
          if (key == torch::HashName{}) continue;
          EntryRow* graph = unclaimed_graph(graphs, key);
          if (graph == nullptr) continue;
          graph->claimed_by = static_cast<std::uint32_t>(&row - rows.data());
          if (graph->compile_time_ns >= 0)
            graphs_ns = std::max<std::int64_t>(graphs_ns, 0) + graph->compile_time_ns;
        }
        std::int64_t own_ns = std::max(entry.forward_time_ns, entry.backward_time_ns);
        if (entry.forward_time_ns >= 0 && entry.backward_time_ns >= 0) {
          own_ns = entry.forward_time_ns + entry.backward_time_ns;
        }
        row.compile_time_ns = std::max(own_ns, graphs_ns);
      }
    }
    begin += run.size();
  }
}

}  // namespace cachetool::store
