#include "store/words.h"

#include "store/lookup.h"

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

std::string leaf_name(const EntryRow& row, const Interner& strings) {
  return row.leaf != 0 ? std::string(strings.text(row.leaf)) : row.summary.leaf.str();
}

std::string entry_path(const CacheSet& cache, const EntryRow& row, const Interner& strings) {
  EntryRef ref;
  ref.key = KeyRef{row.summary.key, row.summary.kind, row.store};
  ref.leaf = leaf_name(row, strings);
  return entry_path(cache, ref);
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
