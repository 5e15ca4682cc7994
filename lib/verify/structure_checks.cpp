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

}  // namespace checks

namespace {

constexpr std::array kChecks{
    &checks::kFileEmpty,      &checks::kFileTruncated, &checks::kFileTrailing, &checks::kFileEncoding,
    &checks::kFileJson,       &checks::kFileShape,     &checks::kElfDamaged,   &checks::kElfKind,
    &checks::kLibraryExports, &checks::kBuildFailed,   &checks::kBinaryName,   &checks::kBenchmarkName,
};

}  // namespace

CheckGroup structure_checks() {
  return {"Files by themselves", kChecks};
}

}  // namespace cachetool::verify
