#include "replay/constant_binding.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cachetool::replay {
namespace {

// "[6, 11]"
template <class Counts>
std::string counts_text(const Counts& counts) {
  return fmt::format("[{}]", fmt::join(counts, ", "));
}

template <class Counts>
bool same_counts(const Counts& found, const std::vector<std::int64_t>& expected) {
  return std::equal(found.begin(), found.end(), expected.begin(), expected.end());
}

// torch compares no stride that nothing is reached by: of dimensions with one element, or of empty tensors
// (torch/csrc/dynamo/guards.cpp: assert_size_stride, 2.15).
bool same_stride(const torch::Ints& found, const std::vector<std::int64_t>& expected,
                 const std::vector<std::int64_t>& size) {
  if (found.size() != expected.size() || size.size() != expected.size()) return false;
  for (const std::int64_t length : size) {
    if (length == 0) return true;
  }
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] != 1 && found[i] != expected[i]) return false;
  }
  return true;
}

void add(std::string& problem, const std::string& text) {
  if (!problem.empty()) problem += "; ";
  problem += text;
}

std::string problem_of(const SuppliedValue& value, const ExpectedConstant& expected) {
  if (!value.other.empty()) return fmt::format("is {}, expected a tensor", value.other);
  std::string problem;
  const std::string_view dtype = bound_dtype(value, expected);
  if (!expected.dtype.empty() && dtype != expected.dtype)
    add(problem, fmt::format("dtype is {}, expected {}", dtype, expected.dtype));
  if (expected.size && !same_counts(value.tensor.size, *expected.size)) {
    add(problem,
        fmt::format("shape is {}, expected {}", counts_text(value.tensor.size), counts_text(*expected.size)));
  } else if (expected.size && expected.stride && !value.logical &&
             !same_stride(value.tensor.stride, *expected.stride, *expected.size)) {
    add(problem, fmt::format("stride is {}, expected {}", counts_text(value.tensor.stride),
                             counts_text(*expected.stride)));
  }
  const std::string device = value.tensor.device_text();
  if (!device.empty() && !expected.device.empty() && device != expected.device)
    add(problem, fmt::format("device is {}, expected {}", device, expected.device));
  return problem;
}

}  // namespace

std::string_view bound_dtype(const SuppliedValue& value, const ExpectedConstant& expected) {
  const std::string_view dtype = value.tensor.dtype;
  if (!value.may_be_raw) return dtype;
  const bool half = expected.dtype == "bfloat16" || expected.dtype == "float16";
  const bool raw16 = dtype == "uint16" || dtype == "raw16";
  const bool raw8 = dtype == "uint8" || dtype == "raw8";
  if ((half && raw16) || (expected.dtype.starts_with("float8_") && raw8)) return expected.dtype;
  return dtype;
}

ConstantBinding bind_constants(const torch::CompiledFxGraph& graph, const SuppliedValues* supplied) {
  ConstantBinding binding;
  std::vector<FrozenName> names = frozen_names(graph);
  std::unordered_set<std::string_view> seen;
  std::erase_if(names, [&seen](const FrozenName& frozen) { return !seen.insert(frozen.name).second; });
  std::vector<ExpectedConstant> expected = expected_constants(graph.source_code.value_or({}), names);
  std::unordered_map<std::string_view, const SuppliedValue*> left;
  if (supplied != nullptr) {
    for (const SuppliedValue& value : supplied->values()) left.try_emplace(value.name, &value);
  }
  const auto take = [&left](std::string_view name) -> const SuppliedValue* {
    const auto found = left.find(name);
    if (found == left.end()) return nullptr;
    const SuppliedValue* value = found->second;
    left.erase(found);
    return value;
  };
  for (std::size_t i = 0; i < names.size(); ++i)
    binding.parameters.push_back({names[i], std::move(expected[i]), take(names[i].name), {}});
  // An attribute may be called as another parameter is in the wrapper: that one has been served by now.
  for (BoundParameter& parameter : binding.parameters) {
    if (parameter.value == nullptr) parameter.value = take(parameter.frozen.attribute);
    if (parameter.value != nullptr) parameter.problem = problem_of(*parameter.value, parameter.expected);
  }
  if (supplied != nullptr) {
    for (const SuppliedValue& value : supplied->values()) {
      if (left.contains(value.name)) binding.superfluous.push_back(value.name);
    }
  }
  return binding;
}

}  // namespace cachetool::replay
