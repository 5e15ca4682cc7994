#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/cudagraph_state.h"
#include "replay/replay.h"

namespace cachetool::replay {

/// A graph of a cache, and what becomes of CUDA graphs for it.
struct CudagraphRow {
  EntryPlace entry;
  std::optional<EntryPlace> aot;  ///< the AOTAutograd entry that leads to it
  Role role = Role::kUnknown;
  bool paired = false;  ///< a backward whose forward is the row before
  CudagraphState state = CudagraphState::kUnknown;
  std::uint64_t partitions = 0;      ///< that run under CUDA graphs
  std::vector<std::string> reasons;  ///< a line each; see short_reason
  std::vector<std::string> groups;   ///< of the reasons
  bool counted = true;               ///< in the totals
  bool by_forward = false;           ///< the reasons are its forward's, which left the box off
  std::int64_t compile_time_ns = -1;
};

struct CudagraphTally {
  std::uint64_t graphs = 0;
  std::int64_t compile_time_ns = 0;
};

/// All graphs of a cache. A graph that several AOTAutograd entries name has a row for each, and counts once
/// (GraphReplay::counted).
struct CudagraphReport {
  std::vector<CudagraphRow> rows;  ///< a backward directly behind its forward
  CudagraphTally all;
  std::uint64_t pairs = 0;  ///< rows that are paired
  std::array<CudagraphTally, kCudagraphStates> states{};
  /// Why graphs are skipped, off, unknown or raise, by group; a graph with several reasons counts in each.
  std::map<CudagraphState, std::map<std::string, CudagraphTally>> reasons;

  const CudagraphTally& of(CudagraphState state) const { return states[static_cast<std::size_t>(state)]; }
};

/// Puts the report together from the graphs as replay_cache hands them out.
class CudagraphCollector final : public ReplaySink {
 public:
  void graph(const GraphReplay& graph) override;
  void failed(const Error& error) override { failures_.push_back(error); }

  const CudagraphReport& report() const { return report_; }
  const std::vector<Error>& failures() const { return failures_; }

 private:
  CudagraphReport report_;
  std::vector<Error> failures_;
};

}  // namespace cachetool::replay
