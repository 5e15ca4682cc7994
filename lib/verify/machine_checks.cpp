#include "verify/machine_checks.h"

namespace cachetool::verify {

CheckGroup machine_checks() {
  return {"Against a machine", {}};
}

}  // namespace cachetool::verify
