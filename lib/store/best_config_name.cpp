#include "store/best_config_name.h"

#include "base/hash.h"
#include "torch/known_builds.h"

namespace cachetool::store {

std::vector<std::string> best_config_names(std::string_view stem) {
  constexpr std::string_view kSuffix = ".best_config";
  const std::string first = to_hex(sha256(std::string(stem) + ".py:"));
  std::vector<std::string> names{std::string(stem) + std::string(kSuffix), first + std::string(kSuffix)};
  for (const torch::KnownBuild& build : torch::known_builds())
    names.push_back(to_hex(sha256(first + from_hex(build.torch_key))) + std::string(kSuffix));
  return names;
}

}  // namespace cachetool::store
