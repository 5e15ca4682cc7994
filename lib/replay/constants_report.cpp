#include "replay/constants_report.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "replay/constant_binding.h"

namespace cachetool::replay {
namespace {

constexpr std::string_view kPrefix = "_frozen_param";
constexpr std::size_t kNamesInSnippet = 6;

ConstantRow stored_row(const torch::Constant& constant) {
  ConstantRow row;
  row.name = constant.name;
  if (!constant.tensor) return row;
  row.dtype = constant.tensor->dtype;
  row.device = constant.tensor->device_text();
  row.size.emplace(constant.tensor->size.begin(), constant.tensor->size.end());
  row.stride.emplace(constant.tensor->stride.begin(), constant.tensor->stride.end());
  return row;
}

ConstantRow frozen_row(BoundParameter& parameter) {
  ConstantRow row;
  row.name = parameter.frozen.name;
  row.attribute = parameter.frozen.attribute;
  row.frozen = true;
  row.dtype = std::move(parameter.expected.dtype);
  row.device = std::move(parameter.expected.device);
  row.size = std::move(parameter.expected.size);
  row.stride = std::move(parameter.expected.stride);
  row.problem = std::move(parameter.problem);
  row.state = parameter.value == nullptr ? ConstantState::kMissing
              : row.problem.empty()      ? ConstantState::kSupplied
                                         : ConstantState::kMisfit;
  return row;
}

// Torch code that finds the wrapper module, which holds the live values, by the name of its file, and saves
// them. torch/_inductor/codecache.py: PyCodeCache.modules (2.6 to 2.15).
std::string snippet_for(const torch::CompiledFxGraph& graph, const std::vector<FrozenName>& names) {
  std::string chosen;
  const bool synthetic = std::all_of(
      names.begin(), names.end(), [](const FrozenName& frozen) { return frozen.name.starts_with(kPrefix); });
  if (synthetic && names.size() > kNamesInSnippet) {
    chosen = fmt::format("[name for name in vars(module) if name.startswith(\"{}\")]", kPrefix);
  } else {
    std::vector<std::string> quoted;
    for (const FrozenName& frozen : names) quoted.push_back(python_repr(frozen.name));
    chosen = fmt::format("[{}]", fmt::join(quoted, ", "));
  }
  return fmt::format(
      "import torch\n"
      "from torch._inductor.codecache import PyCodeCache\n"
      "module = [m for m in PyCodeCache.modules if m.key == {}][-1]\n"
      "names = {}\n"
      "torch.save({{name: getattr(module, name).detach() for name in names}}, \"constants.pt\")\n",
      python_repr(graph.cache_key.value_or({})), chosen);
}

void add_stored(const torch::CompiledFxGraph& graph, std::vector<ConstantRow>& rows) {
  if (!graph.constants) return;
  for (const torch::Constant& constant : *graph.constants) rows.push_back(stored_row(constant));
}

// A frozen parameter takes the place of a stored constant of its name, as in a Python dict.
void add_frozen(ConstantBinding& binding, std::vector<ConstantRow>& rows) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.try_emplace(rows[i].name, i);
  for (BoundParameter& parameter : binding.parameters) {
    ConstantRow row = frozen_row(parameter);
    const auto place = places.find(row.name);
    if (place != places.end()) {
      rows[place->second] = std::move(row);
    } else {
      rows.push_back(std::move(row));
    }
  }
}

}  // namespace

std::string_view state_name(ConstantState state) {
  switch (state) {
    case ConstantState::kStored:
      return "stored";
    case ConstantState::kSupplied:
      return "supplied";
    case ConstantState::kMissing:
      return "missing";
    case ConstantState::kMisfit:
      break;
  }
  return "misfit";
}

ConstantsReport report_constants(const torch::CompiledFxGraph& graph, LoadedBy loaded_by,
                                 const SuppliedValues* supplied) {
  ConstantsReport report;
  // Without the caller's module torch attaches only what the entry stores.
  if (loaded_by == LoadedBy::kAotAutograd) {
    add_stored(graph, report.rows);
    return report;
  }
  // 2.6 takes all constants of a frozen graph from the module.
  if (!graph.allocated_constant_name) add_stored(graph, report.rows);
  ConstantBinding binding = bind_constants(graph, supplied);
  add_frozen(binding, report.rows);
  report.superfluous.assign(binding.superfluous.begin(), binding.superfluous.end());
  const bool lacking = std::any_of(report.rows.begin(), report.rows.end(), [](const ConstantRow& row) {
    return row.state == ConstantState::kMissing || row.state == ConstantState::kMisfit;
  });
  if (lacking) report.snippet = snippet_for(graph, frozen_names(graph));
  return report;
}

}  // namespace cachetool::replay
