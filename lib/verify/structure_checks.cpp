#include "verify/structure_checks.h"

namespace cachetool::verify {

CheckGroup structure_checks() {
  return {"Files by themselves", {}};
}

}  // namespace cachetool::verify
