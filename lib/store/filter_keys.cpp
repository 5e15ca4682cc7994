#include "store/filter_keys.h"

#include <array>

#include "store/words.h"
#include "torch/release.h"

namespace cachetool::store {
namespace {

using Texts = std::vector<std::string>;
using Number = std::optional<std::int64_t>;

Texts one(std::string_view text) {
  return text.empty() ? Texts{} : Texts{std::string(text)};
}

Texts list(std::string_view text) {
  Texts texts;
  for (const std::string_view part : split_list(text)) texts.emplace_back(part);
  return texts;
}

// "cuda" and "cuda:0" both name the device.
Texts devices(const EntryRow& row, const Interner& strings) {
  Texts texts = list(strings.text(row.summary.device_types));
  for (std::string& device : devices_of(row.summary, strings)) texts.push_back(std::move(device));
  return texts;
}

// "2.9" and "2.9.1" both name the release.
Texts releases(const EntryRow& row, const Interner& strings) {
  // Where the fields fit several releases it may be any of them.
  Texts texts;
  for (auto family = row.summary.family; family <= row.summary.family_last;
       family = static_cast<torch::ReleaseFamily>(static_cast<int>(family) + 1)) {
    texts.emplace_back(torch::family_name(family));
  }
  const std::string_view exact = strings.text(row.summary.exact_release);
  if (!exact.empty()) texts.emplace_back(exact);
  return texts;
}

// The full name and its last component.
Texts classes(const EntryRow& row, const Interner& strings) {
  const std::string_view name = strings.text(row.summary.class_name);
  Texts texts = one(name);
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos)
    texts.emplace_back(name.substr(dot + 1));
  return texts;
}

Texts kinds(const EntryRow& row, const Interner&) {
  if (row.summary.kind == torch::EntryKind::kFxGraph) return {"fxgraph", "fx"};
  return {"aotautograd", "aot"};
}

Number counted(const EntryRow& row, std::int64_t count) {
  return row.state == EntryState::kOk ? Number(count) : std::nullopt;
}

constexpr std::array kKeys{
    FilterKey{"kind", FilterValue::kText, kinds, nullptr},
    FilterKey{"key", FilterValue::kPrefix,
              [](const EntryRow& row, const Interner&) { return one(row.summary.key.str()); }, nullptr},
    FilterKey{"leaf", FilterValue::kPrefix,
              [](const EntryRow& row, const Interner& strings) { return one(leaf_name(row, strings)); },
              nullptr},
    FilterKey{"class", FilterValue::kText, classes, nullptr},
    FilterKey{"torch", FilterValue::kText, releases, nullptr},
    FilterKey{"device", FilterValue::kText, devices, nullptr},
    FilterKey{"op", FilterValue::kText,
              [](const EntryRow& row, const Interner& strings) {
                return list(strings.text(row.summary.operators));
              },
              nullptr},
    FilterKey{"name", FilterValue::kText,
              [](const EntryRow& row, const Interner& strings) {
                return one(strings.text(row.summary.graph_name));
              },
              nullptr},
    FilterKey{"role", FilterValue::kText,
              [](const EntryRow& row, const Interner&) {
                return row.state == EntryState::kOk ? one(role_word(row.summary)) : Texts{};
              },
              nullptr},
    FilterKey{
        "cudagraphs", FilterValue::kText,
        [](const EntryRow& row, const Interner&) { return one(cudagraphs_word(row.summary.cudagraphs)); },
        nullptr},
    FilterKey{"outcome", FilterValue::kText,
              [](const EntryRow& row, const Interner& strings) {
                Texts texts = one(strings.text(row.outcome));
                if (row.outcome_reason != 0) texts.emplace_back(strings.text(row.outcome_reason));
                return texts;
              },
              nullptr},
    FilterKey{"state", FilterValue::kText,
              [](const EntryRow& row, const Interner&) { return one(state_word(row.state)); }, nullptr},
    FilterKey{"size", FilterValue::kSize, nullptr,
              [](const EntryRow& row, std::int64_t) { return Number(static_cast<std::int64_t>(row.bytes)); }},
    FilterKey{"held", FilterValue::kSize, nullptr,
              [](const EntryRow& row, std::int64_t) {
                return row.held_bytes < 0 ? std::nullopt : Number(row.held_bytes);
              }},
    FilterKey{"age", FilterValue::kDuration, nullptr,
              [](const EntryRow& row, std::int64_t now_ns) { return Number(now_ns - row.modified_ns); }},
    FilterKey{"time", FilterValue::kDuration, nullptr,
              [](const EntryRow& row, std::int64_t) {
                return row.compile_time_ns < 0 ? std::nullopt : Number(row.compile_time_ns);
              }},
    FilterKey{"constants", FilterValue::kCount, nullptr,
              [](const EntryRow& row, std::int64_t) { return counted(row, row.summary.constants); }},
    FilterKey{"kernels", FilterValue::kCount, nullptr,
              [](const EntryRow& row, std::int64_t) { return counted(row, row.summary.triton_kernels); }},
    FilterKey{"partitions", FilterValue::kCount, nullptr,
              [](const EntryRow& row, std::int64_t) { return counted(row, row.summary.partitions); }},
};

}  // namespace

std::span<const FilterKey> filter_keys() {
  return kKeys;
}

}  // namespace cachetool::store
