#pragma once

#include "verify/check.h"

namespace cachetool::verify {

/// ELF files, cubins, JSON, zip and frames: is the file whole and of its kind.
CheckGroup structure_checks();

namespace checks {

extern const Check kFileEmpty;
extern const Check kFileTruncated;
extern const Check kFileTrailing;
extern const Check kFileEncoding;
extern const Check kFileJson;
extern const Check kFileShape;
extern const Check kFileUnknown;
extern const Check kElfDamaged;
extern const Check kElfKind;
extern const Check kLibraryExports;
extern const Check kBinaryName;
extern const Check kBenchmarkName;
extern const Check kFrameDamaged;
extern const Check kMegaCacheType;
extern const Check kMegaCacheReplaced;
extern const Check kPackedKey;
extern const Check kPackedGraphMissing;
extern const Check kStandaloneKey;
extern const Check kStandaloneTorchKey;
extern const Check kZipDamaged;
extern const Check kBuildFailed;

}  // namespace checks

}  // namespace cachetool::verify
