#include "replay/rules.h"

#include <algorithm>
#include <array>

namespace cachetool::replay {

using torch::ReleaseFamily;

std::optional<Rules> rules_of(ReleaseFamily family) {
  if (family < ReleaseFamily::k2_6) return std::nullopt;
  Rules rules;
  rules.family = family;
  rules.index_box_of_entry = family <= ReleaseFamily::k2_7;
  rules.writes_mutated_back = family >= ReleaseFamily::k2_8;
  rules.graph_partition = family >= ReleaseFamily::k2_8;
  rules.partition_by_default = family >= ReleaseFamily::k2_9;
  rules.cudagraph_or_error = family >= ReleaseFamily::k2_9;
  rules.partition_wrapper = family >= ReleaseFamily::k2_9;
  rules.tensor_constants_only = family >= ReleaseFamily::k2_10;
  rules.wraps_compiled_regions = family >= ReleaseFamily::k2_10;
  rules.bisector = family >= ReleaseFamily::k2_11;
  rules.cudagraph_policy = family >= ReleaseFamily::k2_12;
  rules.asserts_stack_traces = family >= ReleaseFamily::k2_12;
  rules.defers_alignment = family >= ReleaseFamily::k2_12;
  rules.output_metadata = family >= ReleaseFamily::k2_14;
  rules.any_gpu_type = family >= ReleaseFamily::k2_14;
  rules.assertion_messages = family >= ReleaseFamily::k2_14;
  rules.guarded_lookup = family >= ReleaseFamily::k2_8;
  rules.post_compile_after_both = family >= ReleaseFamily::k2_8;
  rules.skips_dot_files = family >= ReleaseFamily::k2_11;
  rules.extern_libs_key = family >= ReleaseFamily::k2_12;
  rules.names_cache_in_warning = family >= ReleaseFamily::k2_15;
  rules.dynamic_shape_warn_limit = family >= ReleaseFamily::k2_10 ? 8 : 50;
  return rules;
}

ReleaseFamily rules_family(const torch::Release& release) {
  const ReleaseFamily exact = torch::family_of_version(release.exact);
  return exact != ReleaseFamily::kUnknown ? exact : release.last;
}

bool counts_as_gpu(const Rules& rules, std::string_view device_type) {
  if (!rules.any_gpu_type) return device_type == "cuda";
  static constexpr std::array<std::string_view, 4> kGpuTypes{"cuda", "mps", "xpu", "mtia"};
  return std::find(kGpuTypes.begin(), kGpuTypes.end(), device_type) != kGpuTypes.end();
}

}  // namespace cachetool::replay
