#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "replay/rules.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// The box in which a forward graph leaves its device for the backward.
/// torch/_inductor/cudagraph_utils.py: BoxedDeviceIndex.
struct IndexBox {
  bool exists = true;                 ///< false: the caller passes no box at all
  std::optional<std::int64_t> value;  ///< nothing: empty

  friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// config.cudagraph_policy (2.12).
enum class CudagraphPolicy : std::uint8_t {
  kNone,    ///< None
  kWrap,    ///< a policy whose should_wrap() is true
  kNoWrap,  ///< a policy whose should_wrap() is false
};

enum class SettingOrigin : std::uint8_t {
  kGiven,    ///< by the user
  kKey,      ///< a component of the entry's key: whoever hits the entry has the same
  kEntry,    ///< follows from what the entry stores
  kDefault,  ///< torch's default in that release
};
/// "given", "key", "entry", "default".
std::string_view origin_name(SettingOrigin origin);

template <class T>
struct Setting {
  T value{};
  SettingOrigin origin = SettingOrigin::kDefault;
};

/// What a caller of post-compile has set, under torch's own names (torch/_inductor/config.py,
/// compile_fx.py: _CompileFxKwargs), and what the process and machine contribute.
struct Settings {
  Setting<bool> cudagraphs;                   ///< "cudagraphs": the caller's flag, fx_kwargs["cudagraphs"]
  Setting<bool> graph_partition;              ///< "graph_partition"
  Setting<bool> cudagraph_trees;              ///< "triton.cudagraph_trees"
  Setting<bool> cudagraph_or_error;           ///< "triton.cudagraph_or_error"
  Setting<IndexBox> forward_device_index;     ///< "forward_device_index": none, absent, or a number
  Setting<CudagraphPolicy> cudagraph_policy;  ///< "cudagraph_policy": none, wrap, no-wrap
  Setting<bool> partition_wrapper;            ///< "customized_partition_wrapper": one is installed
  Setting<bool> bisector;                     ///< "compiler_bisector": it switches CUDA graphs off
  Setting<bool> cudagraph_manager;  ///< "cudagraph_manager": the process already has one for the device
  // Read at run time only (run_time.h):
  Setting<std::optional<std::string>> cudagraph_capture_sizes;  ///< "triton.cudagraph_capture_sizes"
  Setting<std::optional<std::int64_t>> dynamic_shape_warn_limit;
  ///< "triton.cudagraph_dynamic_shape_warn_limit"
  Setting<std::optional<std::int64_t>> dynamic_shape_rerecord_limit;
  ///< "triton.cudagraph_dynamic_shape_rerecord_limit"
  Setting<std::int64_t> unexpected_rerecord_limit;  ///< "triton.cudagraph_unexpected_rerecord_limit"
};

/// What the user asked for: setting name → value as written.
class SettingOverrides {
 public:
  /// Takes "NAME=VALUE". Errors: kUsage for an unknown name (the hint lists the known ones) and for a value
  /// of another type than the setting's (on/off/true/false/yes/no/1/0, none, integers, words).
  Status add(std::string_view assignment);
  /// The value given for `name`; nothing when none was.
  std::optional<std::string_view> find(std::string_view name) const;
  bool empty() const { return values_.empty(); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Names that SettingOverrides::add takes, with what they mean and which values they have.
struct KnownSetting {
  std::string_view name;
  std::string_view values;   ///< "on|off", "none|absent|N"
  std::string_view meaning;  ///< one line
};
std::span<const KnownSetting> known_settings();

/// The flag `cudagraphs` of whoever hits this graph, as settings_for finds it.
Setting<bool> caller_flag(const torch::CompiledFxGraph& graph, const SettingOverrides& given);

/// The settings of whoever hits this graph: what was given, else what the graph's key says (an entry is only
/// found by a caller with the same configuration), else what follows from its fields, else the release's
/// default. The forward's box is empty, or the entry's own (to 2.7).
Settings settings_for(const torch::CompiledFxGraph& graph, const SettingOverrides& given, const Rules& rules);

}  // namespace cachetool::replay
