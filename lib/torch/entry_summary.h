#pragma once

#include <cstdint>

#include "torch/key.h"

namespace cachetool::torch {

enum class EntryKind : std::uint8_t { kFxGraph, kAotAutograd };

enum class OutputCodeClass : std::uint8_t {
  kNone,  ///< AOTAutograd entry by reference
  kCompiledFxGraph,
  kCompiledAOTI,
  kRegionalOutputCode,
  kUnknownOutputCode,
};

/// What an entry stores about CUDA graphs; never a decision (that takes post-compile).
enum class CudagraphFacts : std::uint8_t {
  kNotApplicable,      ///< AOTAutograd entry by reference
  kInfoNone,           ///< cudagraph_info is None
  kReasonStored,       ///< disabled_cudagraphs_reason is set
  kFailReasonsStored,  ///< cudagraph_info.cudagraph_fail_reasons is not empty
  kNoStoredReason,
};

/// Release family by the dialect of the fields (docs/formats.md, "Telling releases apart").
enum class ReleaseFamily : std::uint8_t {
  kUnknown,
  k2_4,
  k2_5,
  k2_6,
  k2_7,
  k2_8,
  k2_9,
  k2_10,
  k2_11,
  k2_12,
  k2_13,
  k2_14,
  k2_15
};

/// A string kept once for the process, by number (see base/interner.h). 0 is the empty string.
using InternId = std::uint32_t;

/// What survives an entry: owns or interns everything, so it may outlive the Document. One per row of `list`.
struct EntrySummary {
  HashName key;   ///< directory name; prefix 'f' or 'a'
  HashName leaf;  ///< file name; all zero when the file is called "entry" (torch 2.6 AOTAutograd)
  EntryKind kind = EntryKind::kFxGraph;
  OutputCodeClass output_code = OutputCodeClass::kNone;
  CudagraphFacts cudagraphs = CudagraphFacts::kNotApplicable;
  ReleaseFamily family = ReleaseFamily::kUnknown;  ///< oldest release that writes such an entry
  ReleaseFamily family_last =
      ReleaseFamily::kUnknown;       ///< newest one; the same as `family` when the dialect is unique
  std::uint16_t partitions = 0;      ///< length of partition_maps
  std::uint16_t triton_kernels = 0;  ///< kernels in the bundle
  bool is_backward = false;
  bool is_inference = false;
  bool has_backward = false;  ///< AOTAutograd: compiled_bw present
  bool bundled = false;       ///< AOTAutograd entry that holds its graphs
  bool has_guards = false;    ///< guards_expr neither None nor empty
  std::uint32_t constants = 0;
  InternId exact_release = 0;          ///< "2.9.1" where the entry says so
  InternId class_name = 0;             ///< full class name of the root
  InternId device_types = 0;           ///< "cuda", "cpu", "cpu,cuda": sorted, comma separated
  InternId device_indices = 0;         ///< "0", "0,1"
  InternId operators = 0;              ///< first operators of the graph, "addmm, relu"
  InternId graph_name = 0;             ///< AOT ID or graph label of the wrapper, "0_forward"
  InternId torch_key_component = 0;    ///< hash of the torch_version debug line: one per exact build
  std::int64_t time_taken_ns = -1;     ///< _time_taken_ns, -1 when absent
  std::int64_t forward_time_ns = -1;   ///< AOTAutograd: forward_time_taken_ns
  std::int64_t backward_time_ns = -1;  ///< AOTAutograd: backward_time_taken_ns
  HashName cache_key;                  ///< wrapper module ('c…'), zero when absent
  HashName forward_graph;              ///< AOTAutograd by reference: key of the forward FX graph
  HashName backward_graph;             ///< and of the backward one; zero when absent
};

static_assert(sizeof(EntrySummary) <= 256);

}  // namespace cachetool::torch
