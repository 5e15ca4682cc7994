#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// FX graph and AOTAutograd entries by themselves: names, keys, pickles.
CheckGroup entry_checks();

namespace checks {

extern const Check kFxGraphName;
extern const Check kAotAutogradName;
extern const Check kEntryKey;
extern const Check kEntryShard;
extern const Check kEntryCacheKey;
extern const Check kEntryGuards;
extern const Check kEntryOutputStrides;
extern const Check kEntryField;
extern const Check kEntryConstant;
extern const Check kEntryClass;
extern const Check kPickleTruncated;
extern const Check kPickleMalformed;
extern const Check kPickleTrailingBytes;
extern const Check kPickleRootType;
extern const Check kPickleDeviation;

}  // namespace checks
}  // namespace cachetool::verify
