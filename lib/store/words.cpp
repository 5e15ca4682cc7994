#include "store/words.h"

namespace cachetool::store {

std::string_view kind_word(torch::EntryKind kind) {
  return kind == torch::EntryKind::kFxGraph ? "fxgraph" : "aotautograd";
}

std::string_view state_word(EntryState state) {
  switch (state) {
    case EntryState::kOk:
      return "ok";
    case EntryState::kDamaged:
      return "damaged";
    case EntryState::kUnreadable:
      return "unreadable";
  }
  return "unreadable";
}

std::string_view family_word(torch::ReleaseFamily family) {
  using enum torch::ReleaseFamily;
  switch (family) {
    case kUnknown:
      return "unknown";
    case k2_4:
      return "2.4";
    case k2_5:
      return "2.5";
    case k2_6:
      return "2.6";
    case k2_7:
      return "2.7";
    case k2_8:
      return "2.8";
    case k2_9:
      return "2.9";
    case k2_10:
      return "2.10";
    case k2_11:
      return "2.11";
    case k2_12:
      return "2.12";
    case k2_13:
      return "2.13";
    case k2_14:
      return "2.14";
    case k2_15:
      return "2.15";
  }
  return "unknown";
}

std::string_view cudagraphs_word(torch::CudagraphFacts facts) {
  using enum torch::CudagraphFacts;
  switch (facts) {
    case kNotApplicable:
      return {};
    case kInfoNone:
      return "info none";
    case kReasonStored:
      return "reason stored";
    case kFailReasonsStored:
      return "fail reasons stored";
    case kNoStoredReason:
      return "no stored reason";
  }
  return {};
}

std::string_view role_word(const torch::EntrySummary& summary) {
  if (summary.kind == torch::EntryKind::kAotAutograd) return summary.has_backward ? "training" : "inference";
  if (summary.is_backward) return "backward";
  return summary.is_inference ? "inference" : "forward";
}

std::string leaf_name(const torch::EntrySummary& summary) {
  return summary.leaf == torch::HashName{} ? std::string("entry") : summary.leaf.str();
}

std::string entry_path(const EntryRow& row, const Interner& strings) {
  std::string path(strings.text(row.root));
  if (!path.empty()) path += '/';
  const std::string key = row.summary.key.str();
  path += kind_word(row.summary.kind);
  if (row.summary.kind == torch::EntryKind::kFxGraph) path += '/' + key.substr(1, 2);
  return path + '/' + key + '/' + leaf_name(row.summary);
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> devices_of(const torch::EntrySummary& summary, const Interner& strings) {
  std::vector<std::string> devices;
  const auto indices = split_list(strings.text(summary.device_indices));
  for (const std::string_view type : split_list(strings.text(summary.device_types))) {
    // Indices belong to the accelerator; the CPU has none.
    if (type == "cpu" || indices.empty()) {
      devices.emplace_back(type);
      continue;
    }
    for (const std::string_view index : indices)
      devices.push_back(std::string(type) + ":" + std::string(index));
  }
  return devices;
}

}  // namespace cachetool::store
