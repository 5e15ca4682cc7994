#include "verify/place_checks.h"

namespace cachetool::verify {

CheckGroup place_checks() {
  return {"The place", {}};
}

}  // namespace cachetool::verify
