#include "verify/cache_facts.h"

namespace cachetool::verify {

std::span<const RelationCheck> relation_checks() {
  return {};
}

}  // namespace cachetool::verify
