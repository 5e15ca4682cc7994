#include "replay/supplied_constants.h"

#include <utility>

#include "replay/constant_binding.h"

namespace cachetool::replay {

SuppliedConstants::SuppliedConstants(const torch::CompiledFxGraph& graph, const SuppliedValues& values) {
  const ConstantBinding binding = bind_constants(graph, &values);
  for (const BoundParameter& parameter : binding.parameters) {
    if (!parameter.fits()) continue;
    const torch::Tensor* tensor = &parameter.value->tensor;
    if (bound_dtype(*parameter.value, parameter.expected) != tensor->dtype) {
      torch::Tensor& copy = reinterpreted_.emplace_back(*tensor);
      copy.dtype = dtypes_.emplace_back(parameter.expected.dtype);
      tensor = &copy;
    }
    tensors_.emplace(parameter.frozen.name, tensor);
  }
}

OrRaised<std::vector<BoundConstant>> SuppliedConstants::unwrap(const torch::CompiledFxGraph& graph,
                                                               const Rules& rules) const {
  auto constants = StoredConstants(LoadedBy::kFxGraphCache).unwrap(graph, rules);
  if (!constants) return constants;
  for (BoundConstant& constant : *constants) {
    if (!constant.frozen) continue;
    const auto found = tensors_.find(constant.name);
    if (found != tensors_.end()) constant.tensor = found->second;
  }
  return constants;
}

}  // namespace cachetool::replay
