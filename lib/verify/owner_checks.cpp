#include "verify/owner_checks.h"

namespace cachetool::verify {

CheckGroup owner_checks() {
  return {"Owners and modes", {}};
}

}  // namespace cachetool::verify
