#include "verify/scope.h"

#include "store/paths.h"

namespace cachetool::verify {

bool concerns_scope(const Inventory& inventory, const Finding& finding) {
  if (finding.root != 0 || inventory.cache().scope.empty()) return true;
  return store::is_within(inventory.cache().scope, finding.path);
}

}  // namespace cachetool::verify
