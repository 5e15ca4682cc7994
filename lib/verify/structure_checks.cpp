#include "verify/structure_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

// What a damaged file costs depends on its kind: see loss_of. These are the worst cases.
const Check kFileEmpty{
    .id = "file.empty",
    .title = "a file that must hold something is empty",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair` where it offers that; torch makes it anew",
};
const Check kFileTruncated{
    .id = "file.truncated",
    .title = "a file ends before its contents do",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair` where it offers that; torch makes it anew",
};
const Check kFileTrailing{
    .id = "file.trailing",
    .title = "bytes follow the end of a file's contents",
    .severity = Severity::kError,
    .mend = "find out what wrote them; move the file away with `cachetool verify --repair`",
};
const Check kFileEncoding{
    .id = "file.encoding",
    .title = "a text file isn't UTF-8",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair` where it offers that; torch makes it anew",
};
const Check kFileJson{
    .id = "file.json",
    .title = "a JSON file is no JSON",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair` where it offers that; torch makes it anew",
};
const Check kFileShape{
    .id = "file.shape",
    .title = "a well-formed file lacks what is read from it",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair` where it offers that; torch makes it anew",
};
const Check kFileUnknown{
    .id = "file.unknown",
    .title = "a file that no studied release writes there",
    .severity = Severity::kInfo,
    .mend = "find out what wrote it; torch doesn't read it",
};
const Check kElfDamaged{
    .id = "elf.damaged",
    .title = "a library, object or GPU binary is no ELF file or contradicts itself",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair`; torch builds it again from its source",
};
const Check kElfKind{
    .id = "elf.kind",
    .title = "an ELF file is of another kind than its place asks for",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair`; torch builds it again from its source",
};
const Check kLibraryExports{
    .id = "library.exports",
    .title = "a library doesn't define what torch or Triton looks up in it",
    .severity = Severity::kError,
    .mend = "move the file away with `cachetool verify --repair`; torch builds it again from its source",
};
const Check kBuildFailed{
    .id = "library.build-failed",
    .title = "a failed build is remembered",
    .severity = Severity::kInfo,
    .mend = "remove the `.error` file to have torch try the build again",
};
const Check kBinaryName{
    .id = "gpu-binary.name",
    .title = "a GPU binary's content isn't what its name says",
    .severity = Severity::kError,
    .mend = "clear the entries of C++ wrappers that use it and compile them again",
};
const Check kBenchmarkName{
    .id = "benchmark-cache.name",
    .title = "measured times lie under another system's name",
    .severity = Severity::kWarning,
    .mend = "move the file away with `cachetool verify --repair`; torch measures again",
};

const Check kFrameDamaged{
    .id = "frame.damaged",
    .title = "a mega-cache or standalone artifact is cut short or altered",
    .severity = Severity::kError,
    .mend = "write the file again with torch, or copy it again from where it came",
};
const Check kMegaCacheType{
    .id = "mega-cache.type",
    .title = "a mega-cache holds a type of item that torch itself doesn't have",
    .severity = Severity::kWarning,
    .mend = "load it where that type is registered, or write the file again without it",
};
const Check kMegaCacheReplaced{
    .id = "mega-cache.replaced",
    .title = "a later group of a mega-cache replaces an earlier one of its type",
    .severity = Severity::kInfo,
    .mend = "call torch.compiler.save_cache_artifacts once per process, at its end",
};
const Check kPackedKey{
    .id = "packed.key",
    .title = "an item of a mega-cache or standalone artifact has a key that its type doesn't have",
    .severity = Severity::kWarning,
    .mend = "write the file again with torch",
};
const Check kPackedGraphMissing{
    .id = "packed.graph-missing",
    .title = "an AOTAutograd entry needs a graph that the same file doesn't hold",
    .severity = Severity::kWarning,
    .mend = "write the file again with torch, in the process that compiled",
};
const Check kStandaloneKey{
    .id = "standalone.key",
    .title = "a standalone artifact doesn't hold the AOTAutograd entry that it names",
    .severity = Severity::kError,
    .mend = "write the artifact again with torch",
};
const Check kStandaloneTorchKey{
    .id = "standalone.torch-key",
    .title = "a standalone artifact is of a torch build that cachetool doesn't know",
    .severity = Severity::kInfo,
    .mend = "nothing to mend: the torch build that wrote it loads it, and no other",
};
const Check kZipDamaged{
    .id = "zip.damaged",
    .title = "a package is no zip archive, is cut or altered, or contradicts itself",
    .severity = Severity::kError,
    .mend = "write the package again, or copy it again from where it came",
};

}  // namespace checks

namespace {

constexpr std::array kChecks{
    &checks::kFileEmpty,         &checks::kFileTruncated,      &checks::kFileTrailing,
    &checks::kFileEncoding,      &checks::kFileJson,           &checks::kFileShape,
    &checks::kFileUnknown,       &checks::kElfDamaged,         &checks::kElfKind,
    &checks::kLibraryExports,    &checks::kBuildFailed,        &checks::kBinaryName,
    &checks::kBenchmarkName,     &checks::kFrameDamaged,       &checks::kMegaCacheType,
    &checks::kMegaCacheReplaced, &checks::kPackedKey,          &checks::kPackedGraphMissing,
    &checks::kStandaloneKey,     &checks::kStandaloneTorchKey, &checks::kZipDamaged,
};

}  // namespace

CheckGroup structure_checks() {
  return {"Files by themselves", kChecks};
}

}  // namespace cachetool::verify
