#include "report/replay_settings.h"

namespace cachetool::report {
namespace {

using replay::Setting;

std::string_view on_off(bool value) {
  return value ? "on" : "off";
}

std::string number_or_none(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "none";
}

class Rows {
 public:
  void flag(std::string_view name, const Setting<bool>& setting) {
    add(name, std::string(on_off(setting.value)), origin_name(setting.origin));
  }
  template <class T>
  void add(std::string_view name, const Setting<T>& setting, std::string value) {
    add(name, std::move(value), origin_name(setting.origin));
  }
  void add(std::string_view name, std::string value, std::string_view from) {
    all.push_back({name, std::move(value), from});
  }
  std::vector<SettingRow> all;
};

}  // namespace

std::string_view policy_word(replay::CudagraphPolicy policy) {
  switch (policy) {
    case replay::CudagraphPolicy::kWrap:
      return "wrap";
    case replay::CudagraphPolicy::kNoWrap:
      return "no-wrap";
    case replay::CudagraphPolicy::kNone:
      break;
  }
  return "none";
}

std::string index_box_text(const replay::IndexBox& box) {
  if (!box.exists) return "absent";
  return box.value ? std::to_string(*box.value) : "empty";
}

std::vector<SettingRow> setting_rows(const replay::GraphReplay& graph) {
  const replay::Settings& settings = graph.settings;
  const replay::Boxes& before = graph.before;
  Rows rows;
  const bool own_flag = before.cudagraphs == settings.cudagraphs.value;
  rows.add("cudagraphs", std::string(on_off(before.cudagraphs)),
           own_flag ? origin_name(settings.cudagraphs.origin) : "forward");
  rows.flag("graph_partition", settings.graph_partition);
  rows.flag("triton.cudagraph_trees", settings.cudagraph_trees);
  rows.flag("triton.cudagraph_or_error", settings.cudagraph_or_error);
  const bool own_box = before.forward_device_index == settings.forward_device_index.value;
  rows.add("forward_device_index", index_box_text(before.forward_device_index),
           own_box ? origin_name(settings.forward_device_index.origin) : "forward");
  rows.add("cudagraph_policy", settings.cudagraph_policy,
           std::string(policy_word(settings.cudagraph_policy.value)));
  rows.flag("customized_partition_wrapper", settings.partition_wrapper);
  rows.flag("compiler_bisector", settings.bisector);
  rows.flag("cudagraph_manager", settings.cudagraph_manager);
  rows.add("triton.cudagraph_capture_sizes", settings.cudagraph_capture_sizes,
           settings.cudagraph_capture_sizes.value.value_or("none"));
  rows.add("triton.cudagraph_dynamic_shape_warn_limit", settings.dynamic_shape_warn_limit,
           number_or_none(settings.dynamic_shape_warn_limit.value));
  rows.add("triton.cudagraph_dynamic_shape_rerecord_limit", settings.dynamic_shape_rerecord_limit,
           number_or_none(settings.dynamic_shape_rerecord_limit.value));
  rows.add("triton.cudagraph_unexpected_rerecord_limit", settings.unexpected_rerecord_limit,
           std::to_string(settings.unexpected_rerecord_limit.value));
  return rows.all;
}

}  // namespace cachetool::report
