#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/constants.h"

namespace cachetool::replay {

enum class ConstantState : std::uint8_t {
  kStored,    ///< "stored": the entry holds its value
  kSupplied,  ///< "supplied": the value came with --constants and fits
  kMissing,   ///< "missing": a frozen parameter without a value
  kMisfit,    ///< "misfit": a value was supplied, of another dtype, shape, stride or device
};
std::string_view state_name(ConstantState state);

/// One constant of a graph, as the wrapper module sees it.
struct ConstantRow {
  std::string name;
  std::string attribute;  ///< frozen parameters: what torch reads from the live module; else empty
  bool frozen = false;
  ConstantState state = ConstantState::kStored;
  std::string dtype;   ///< "float32"; empty where nothing tells it
  std::string device;  ///< "cuda:0"; likewise
  std::optional<std::vector<std::int64_t>> size;
  std::optional<std::vector<std::int64_t>> stride;  ///< in elements
  std::string problem;  ///< what doesn't fit: "dtype is float16, expected float32"
};

/// A graph's constants and how what was supplied fits them.
struct ConstantsReport {
  std::vector<ConstantRow> rows;         ///< in torch's order
  std::vector<std::string> superfluous;  ///< names that were supplied and that the graph doesn't have
  std::string snippet;  ///< torch code that dumps the missing ones; empty when nothing is missing
};

class SuppliedValues;

/// The constants of a graph that is loaded that way; `supplied` may be null. What the wrapper says about a
/// frozen parameter (dtype, size, stride, device) is expected of its value.
ConstantsReport report_constants(const torch::CompiledFxGraph& graph, LoadedBy loaded_by,
                                 const SuppliedValues* supplied);

}  // namespace cachetool::replay
