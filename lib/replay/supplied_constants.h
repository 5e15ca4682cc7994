#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file_system.h"
#include "replay/constants.h"

namespace cachetool::replay {

/// Values that a user hands over for frozen parameters (--constants FILE).
class SuppliedValues {
 public:
};

/// The entry's own constants and the supplied values of its frozen parameters.
class SuppliedConstants final : public ConstantSource {
 public:
  explicit SuppliedConstants(const SuppliedValues& values) : values_(values) {}
  OrRaised<std::vector<BoundConstant>> unwrap(const torch::CompiledFxGraph& graph,
                                              const Rules& rules) const override;

 private:
  const SuppliedValues& values_;
};

}  // namespace cachetool::replay
