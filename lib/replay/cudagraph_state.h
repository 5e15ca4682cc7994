#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/decision.h"

namespace cachetool::replay {

struct GraphReplay;

/// What becomes of CUDA graphs for a graph, as reports count it.
enum class CudagraphState : std::uint8_t {
  kGraph,         ///< "cudagraph": runs under one CUDA graph
  kPartitions,    ///< "partitions": each partition runs under one
  kSkipped,       ///< "skipped": asked for, off, and counted as cudagraph_skips
  kSilent,        ///< "silent": asked for and off; torch logs and counts nothing
  kNotAsked,      ///< "not-asked": the compile looked into them, but the caller's flag is off
  kNotEvaluated,  ///< "not-evaluated": compiled with CUDA graphs off, so nobody knows whether it could
  kNoChecks,      ///< "no-checks": its class's post-compile knows no CUDA graphs
  kRaises,        ///< "raises": torch would raise
  kUnknown,       ///< "unknown": the decision couldn't be computed
};
constexpr std::size_t kCudagraphStates = 9;
std::string_view state_name(CudagraphState state);

/// Whether the compile looked into CUDA graphs: it leaves cudagraph_info or a reason then.
enum class Evaluated : bool { kNo, kYes };
Evaluated evaluated(const torch::CompiledFxGraph& graph);

/// The state that a decision means.
CudagraphState state_of(const Decision& decision, Evaluated evaluated);
/// The same for a graph of a cache. A backward whose forward left the box off has its forward's state.
CudagraphState state_of(const GraphReplay& graph);

/// Why it is in that state: its own reasons, else its forward's; verbatim, empty where there are none.
const std::vector<std::string>& reasons_of(const GraphReplay& graph);

/// The groups of these reasons, each once, in order. See reason_group.
std::vector<std::string> reason_groups(const std::vector<std::string>& reasons);

}  // namespace cachetool::replay
