#include "verify/entry_checks.h"

namespace cachetool::verify {

CheckGroup entry_checks() {
  return {"Entries", {}};
}

}  // namespace cachetool::verify
