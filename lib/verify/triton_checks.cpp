#include "verify/triton_checks.h"

namespace cachetool::verify {

CheckGroup triton_checks() {
  return {"Triton directories", {}};
}

}  // namespace cachetool::verify
