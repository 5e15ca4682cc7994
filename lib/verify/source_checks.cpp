#include "verify/source_checks.h"

namespace cachetool::verify {

CheckGroup source_checks() {
  return {"Generated sources and autotune results", {}};
}

}  // namespace cachetool::verify
