#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/replay.h"

namespace cachetool::report {

/// A setting that a graph was decided under.
struct SettingRow {
  std::string_view name;  ///< torch's
  std::string value;      ///< "on", "off", "none", a number, a text
  std::string_view from;  ///< "given", "key", "entry", "default", "forward"
};

/// All settings of a graph, in the order of replay::known_settings. The flag and the device index are those
/// that post-compile got: a backward's come from its forward.
std::vector<SettingRow> setting_rows(const replay::GraphReplay& graph);

/// "none", "wrap", "no-wrap".
std::string_view policy_word(replay::CudagraphPolicy policy);

/// What a box holds: "absent", "empty", "0".
std::string index_box_text(const replay::IndexBox& box);

}  // namespace cachetool::report
