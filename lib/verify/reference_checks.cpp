#include "verify/reference_checks.h"

namespace cachetool::verify {

CheckGroup reference_checks() {
  return {"References", {}};
}

}  // namespace cachetool::verify
