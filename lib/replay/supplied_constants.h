#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replay/constants.h"
#include "replay/supplied_values.h"

namespace cachetool::replay {

/// The entry's own constants and, where they fit, the supplied values of one graph's frozen parameters.
class SuppliedConstants final : public ConstantSource {
 public:
  /// Both must outlive this.
  SuppliedConstants(const torch::CompiledFxGraph& graph, const SuppliedValues& values);
  OrRaised<std::vector<BoundConstant>> unwrap(const torch::CompiledFxGraph& graph,
                                              const Rules& rules) const override;

 private:
  std::unordered_map<std::string_view, const torch::Tensor*> tensors_;
  std::deque<torch::Tensor> reinterpreted_;  // values that were handed over as raw bits
  std::deque<std::string> dtypes_;           // of these
};

}  // namespace cachetool::replay
