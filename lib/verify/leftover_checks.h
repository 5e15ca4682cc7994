#pragma once

#include "verify/check.h"

namespace cachetool::verify {

namespace checks {
extern const Check kLeftoverInKey;
extern const Check kLeftoverTemporary;
extern const Check kLeftoverFreshCache;
extern const Check kLeftoverBuild;
extern const Check kLeftoverLoadMarker;
extern const Check kLeftoverUnreachable;
extern const Check kLockFree;
extern const Check kLockAbandoned;
}  // namespace checks

/// Unfinished writes, lock files, presence locks.
CheckGroup leftover_checks();

}  // namespace cachetool::verify
