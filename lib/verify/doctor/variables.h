#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/environment.h"
#include "verify/doctor/choice.h"

namespace cachetool::verify {

/// Where a variable's value in force comes from.
enum class ValueSource : std::uint8_t {
  kSet,      ///< in the environment
  kDefault,  ///< not set; this is what torch, Triton or vLLM take instead
  kTorch,    ///< not set; torch sets it for itself and its children
};
/// "set", "default", "torch".
std::string_view value_source_name(ValueSource source);

/// A variable that matters to a cache.
struct Variable {
  std::string name;
  std::string value;  ///< secrets are masked already
  ValueSource source = ValueSource::kSet;
  std::string_view meaning;  ///< what it is for; empty for those that are only known by name
};

/// What is set of TORCHINDUCTOR_*, TORCH_COMPILE*, TRITON_*, VLLM_*, CUDA_* and the like, and what holds for
/// the most important ones that aren't, in a fixed order, the important ones first.
std::vector<Variable> list_variables(const store::Environment& environment, const CacheChoice& choice);

/// A set variable that no release reads and that is one or two letters away from one that is read.
struct Misspelt {
  std::string name;
  std::string_view meant;
};
std::vector<Misspelt> find_misspelt(const store::Environment& environment);

/// Every variable of torch.compile and Triton that torch 2.4 to 2.15 and Triton 3.4 to 3.8 read by name, and
/// those of vLLM that concern its cache; sorted.
std::span<const std::string_view> known_variables();

/// As torch/utils/_config_module.py reads a switch (2.7): "0" and the empty text are off, all else is on;
/// empty where the variable isn't set.
std::optional<bool> switch_value(const store::Environment& environment, std::string_view name);

}  // namespace cachetool::verify
