#pragma once

#include "verify/check.h"

namespace cachetool::verify {

namespace checks {

// Which directory
extern const Check kPlaceEmptyVariable;
extern const Check kPlaceRelative;
extern const Check kPlaceNoUserName;
extern const Check kPlaceNoHome;
extern const Check kPlaceTemporaryIgnored;
extern const Check kPlaceNotADirectory;
extern const Check kPlaceUnreachable;
// What the file system allows
extern const Check kPlaceReadOnly;
extern const Check kPlaceNotWritable;
extern const Check kPlaceNoExec;
extern const Check kPlaceNoLocks;
extern const Check kPlaceLowSpace;
extern const Check kPlaceLowInodes;
extern const Check kPlaceNetwork;
extern const Check kPlaceContainerLayer;
extern const Check kPlaceMemory;
extern const Check kPlaceUserSpace;
extern const Check kPlaceCaseInsensitive;
extern const Check kPlaceNoAtime;
// Who may change it
extern const Check kPlaceForeignOwner;
extern const Check kPlaceForeignLink;
extern const Check kPlaceOthersMayWrite;
extern const Check kPlaceUmask;
// Settings
extern const Check kPlaceCachesDisabled;
extern const Check kPlaceCacheOff;
extern const Check kPlaceCompileOff;
extern const Check kPlaceMisspelt;
// The machine
extern const Check kPlaceNoCompiler;

}  // namespace checks

/// What doctor looks at: file system, space, owners, environment.
CheckGroup place_checks();

}  // namespace cachetool::verify
