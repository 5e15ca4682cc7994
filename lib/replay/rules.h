#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "torch/entry_summary.h"
#include "torch/release.h"

namespace cachetool::replay {

/// What torch's post-compile does differently from release to release (docs/post-compile.md). Read in
/// torch/_inductor/output_code.py and cudagraph_utils.py of 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0, 2.11.0,
/// 2.12.0, 2.13.0, 2.14.0 and 2.15.0.
struct Rules {
  torch::ReleaseFamily family = torch::ReleaseFamily::kUnknown;
  bool index_box_of_entry = false;       ///< to 2.7: the box is the entry's, later the caller's
  bool writes_mutated_back = false;      ///< 2.8: clones of mutated inputs are copied back after the call
  bool graph_partition = false;          ///< 2.8: cudagraph_partition_post_compile
  bool partition_by_default = false;     ///< 2.9: config.graph_partition is on
  bool cudagraph_or_error = false;       ///< 2.9: triton.cudagraph_or_error
  bool partition_wrapper = false;        ///< 2.9: _unstable_customized_partition_wrapper
  bool tensor_constants_only = false;    ///< 2.10: constants that are no tensors aren't passed on
  bool wraps_compiled_regions = false;   ///< 2.10: _wrap_compiled_regions
  bool bisector = false;                 ///< 2.11: CompilerBisector may switch CUDA graphs off
  bool cudagraph_policy = false;         ///< 2.12: config.cudagraph_policy
  bool asserts_stack_traces = false;     ///< 2.12
  bool defers_alignment = false;         ///< 2.12: _defers_input_alignment
  bool output_metadata = false;          ///< 2.14: kernel_free_cudagraph and user_visible_output_idxs
  bool any_gpu_type = false;             ///< 2.14: messages for every GPU type, before for CUDA only
  bool assertion_messages = false;       ///< 2.14: assertions carry a message
  bool guarded_lookup = false;           ///< 2.8: GuardedCache, AOTAutograd entries have guards of their own
  bool post_compile_after_both = false;  ///< 2.8: forward and backward are both loaded before post-compile
  bool skips_dot_files = false;          ///< 2.11: candidates whose names begin with a dot aren't read
  bool extern_libs_key = false;          ///< 2.12: libdevice and the like must be those of the entry
  bool names_cache_in_warning =
      false;  ///< 2.15: which cache can't load a candidate; a vanished one is silent
  std::int64_t dynamic_shape_warn_limit = 50;  ///< 2.10: 8
};

/// The rules of a release family; nothing for one whose post-compile was not read (before 2.6).
std::optional<Rules> rules_of(torch::ReleaseFamily family);

/// The family whose rules an entry is decided by: of its exact release where that is known, else the newest
/// that has all its fields. kUnknown when the fields fit no release.
torch::ReleaseFamily rules_family(const torch::Release& release);

/// Whether messages about CUDA graphs are written for a graph with this device type.
/// torch/_inductor/utils.py: is_gpu, GPU_TYPES (2.15).
bool counts_as_gpu(const Rules& rules, std::string_view device_type);

}  // namespace cachetool::replay
