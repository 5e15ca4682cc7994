#include <array>

#include "verify/cache_facts.h"
#include "verify/cpp_names.h"
#include "verify/leftovers.h"
#include "verify/references.h"
#include "verify/strange_places.h"
#include "verify/triton_directories.h"
#include "verify/unknown_files.h"
#include "verify/vllm_directories.h"

namespace cachetool::verify {

std::span<const RelationCheck> relation_checks() {
  static constexpr std::array<RelationCheck, 8> kChecks{
      check_cpp_names, check_triton_directories, check_vllm_directories, check_references, check_leftovers,
      check_locks,     check_unknown_files,      check_strange_places,
  };
  return kChecks;
}

}  // namespace cachetool::verify
