#include "verify/leftover_checks.h"

namespace cachetool::verify {

CheckGroup leftover_checks() {
  return {"Leftovers and locks", {}};
}

}  // namespace cachetool::verify
