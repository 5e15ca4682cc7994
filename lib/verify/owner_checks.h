#pragma once

#include "verify/check.h"

namespace cachetool::verify {

namespace checks {
extern const Check kOwnerForeign;
extern const Check kOwnerWorldWritable;
extern const Check kOwnerGroupWritable;
extern const Check kOwnerWay;
extern const Check kOwnerLink;
extern const Check kOwnerHardLink;
}  // namespace checks

/// Who may write what torch executes.
CheckGroup owner_checks();

}  // namespace cachetool::verify
