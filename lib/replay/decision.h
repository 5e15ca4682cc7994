#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/raised.h"
#include "replay/settings.h"

namespace cachetool::replay {

/// What a graph is called through after post-compile.
enum class Callable : std::uint8_t {
  kPlain,                ///< "plain": the wrapper module's call
  kCudagraph,            ///< "cudagraph": the whole call under one CUDA graph
  kCudagraphPartitions,  ///< "cudagraph_partitions": each partition under one of its own
  kError,                ///< "error": torch would raise
  kUnknown,              ///< "unknown": the entry doesn't tell enough
};
std::string_view callable_name(Callable callable);

/// Why it is that callable: the row of the decision table (docs/post-compile.md).
enum class Outcome : std::uint8_t {
  kNotAsked,         ///< "not-asked": the caller's flag is off
  kPolicy,           ///< "policy": config.cudagraph_policy doesn't wrap this graph
  kDisabledReason,   ///< "disabled-reason": disabled_cudagraphs_reason is stored
  kFailReasons,      ///< "fail-reasons": cudagraph_fail_reasons are stored
  kNoPartition,      ///< "no-partition": partitioning is on and there is nothing to capture; no message
  kBisector,         ///< "bisector": torch's bisector switched CUDA graphs off
  kWrapped,          ///< "wrapped": under a CUDA graph, whole or in partitions
  kCustomWrapper,    ///< "custom-wrapper": an installed wrapper gets every partition
  kNoCudagraphCode,  ///< "no-checks": a class whose post-compile knows no CUDA graphs
  kRaised,           ///< "raised"
  kUnknown,          ///< "unknown"
};
std::string_view outcome_name(Outcome outcome);

/// One call of torch/_inductor/compile_fx.py: cudagraphify, with its arguments.
struct Wrap {
  std::int64_t device_index = 0;
  bool is_backward = false;
  bool is_inference = false;
  std::vector<std::int64_t> static_input_idxs;   ///< positions that keep their address
  std::vector<std::int64_t> mutated_input_idxs;  ///< positions that the graph writes to
  std::vector<std::string> placeholders;         ///< names, one per input
  std::vector<bool> stack_traces_present;        ///< one per output
  bool has_stack_traces = true;                  ///< false: None instead of a list, which is empty here
  std::uint64_t n_constants = 0;
  std::optional<bool> kernel_free_cudagraph;                          ///< 2.14 on
  std::optional<std::vector<std::int64_t>> user_visible_output_idxs;  ///< 2.14 on
  std::optional<std::int64_t> partition;  ///< id of the partition; nothing for a whole graph
};

/// What post-compile changes for others: it gets both and leaves both.
struct Boxes {
  bool cudagraphs = false;  ///< the BoxedBool
  IndexBox forward_device_index;
};

/// What torch's post-compile does with a graph.
struct Decision {
  Callable callable = Callable::kUnknown;
  Outcome outcome = Outcome::kUnknown;
  std::vector<std::string> reasons;    ///< as stored or as torch words them; in our words where it has none
  std::vector<std::string> log;        ///< warnings, verbatim
  std::int64_t cudagraph_skips = 0;    ///< increments of counters["inductor"]["cudagraph_skips"]
  std::vector<std::int64_t> realign;   ///< input positions that are cloned when not aligned to 16 bytes
  bool realign_writes_back = false;    ///< clones of mutated inputs are copied back after the call
  std::vector<Wrap> wraps;             ///< in torch's order; also what was wrapped before it raised
  bool sets_running_backward = false;  ///< the callable tells the forward's manager that backward runs
  bool specializes_sizes = false;      ///< symbolic inputs get guarded to their present sizes (trees off)
  bool wraps_compiled_region = false;  ///< _wrap_compiled_regions: inside a dispatch mode a higher-order op
  Boxes after;
  std::optional<Raised> error;
};

}  // namespace cachetool::replay
