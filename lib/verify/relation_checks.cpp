#include <array>

#include "verify/cache_facts.h"
#include "verify/triton_directories.h"

namespace cachetool::verify {

std::span<const RelationCheck> relation_checks() {
  static constexpr std::array<RelationCheck, 1> kChecks{
      check_triton_directories,
  };
  return kChecks;
}

}  // namespace cachetool::verify
