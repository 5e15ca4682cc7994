#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/expected_constants.h"
#include "replay/supplied_values.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// A frozen parameter of a graph and the value that was supplied for it.
struct BoundParameter {
  FrozenName frozen;
  ExpectedConstant expected;
  const SuppliedValue* value = nullptr;  ///< of that name; null: none was supplied
  std::string problem;                   ///< why the value doesn't fit; empty where it does or there is none

  bool fits() const { return value != nullptr && problem.empty(); }
};

struct ConstantBinding {
  std::vector<BoundParameter> parameters;     ///< as frozen_names has them, each name once
  std::vector<std::string_view> superfluous;  ///< names of values that no parameter took
};

/// Finds for each frozen parameter of `graph` the value that has its name in the wrapper, else the one called
/// as the attribute that torch reads it from, and compares dtype, shape, stride and device with what the
/// wrapper declares. `supplied` may be null.
ConstantBinding bind_constants(const torch::CompiledFxGraph& graph, const SuppliedValues* supplied);

/// The dtype that a value has for a parameter: `expected` where the value may be its raw bits.
std::string_view bound_dtype(const SuppliedValue& value, const ExpectedConstant& expected);

}  // namespace cachetool::replay
