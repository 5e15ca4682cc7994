#pragma once

#include <string>
#include <vector>

#include "replay/raised.h"
#include "replay/rules.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// One value that torch sets on the wrapper module and, where it is a tensor, hands to cudagraphify.
struct BoundConstant {
  std::string name;
  const torch::Tensor* tensor =
      nullptr;            ///< null: the value isn't at hand (a frozen parameter), or no tensor
  bool is_tensor = true;  ///< false: an opaque class, or a value of another type
  bool frozen = false;    ///< a name of frozen_param_names
};

/// Where post-compile takes a graph's constants from. torch/_inductor/output_code.py:
/// CompiledFxGraphConstants.
class ConstantSource {
 public:
  virtual ~ConstantSource() = default;
  /// The constants in torch's dict order, or what torch raises. Pointers live as long as the source and the
  /// graph's Document.
  virtual OrRaised<std::vector<BoundConstant>> unwrap(const torch::CompiledFxGraph& graph,
                                                      const Rules& rules) const = 0;
};

/// How a cached graph is loaded.
enum class LoadedBy : std::uint8_t {
  kFxGraphCache,  ///< CompiledFxGraphConstantsWithGm: frozen parameters come from the caller's live module
  kAotAutograd,   ///< CompiledFxGraphConstants: only what the entry stores
};

/// The constants that the entry itself stores; frozen parameters are names without values.
class StoredConstants final : public ConstantSource {
 public:
  explicit StoredConstants(LoadedBy loaded_by) : loaded_by_(loaded_by) {}
  OrRaised<std::vector<BoundConstant>> unwrap(const torch::CompiledFxGraph& graph,
                                              const Rules& rules) const override;

 private:
  LoadedBy loaded_by_;
};

/// A frozen parameter that a graph names.
struct FrozenName {
  std::string_view name;       ///< of the module's attribute in the wrapper: "_frozen_param3"
  std::string_view attribute;  ///< of the folded graph module that torch reads it from
};
/// The graph's frozen parameters, in order. 2.6 names them in allocated_constant_name, later releases in
/// frozen_param_names.
std::vector<FrozenName> frozen_names(const torch::CompiledFxGraph& graph);

}  // namespace cachetool::replay
