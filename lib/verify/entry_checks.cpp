#include "verify/entry_checks.h"

#include <array>

namespace cachetool::verify {
namespace checks {

const Check kFxGraphName = {
    .id = "fxgraph.name",
    .title = "an FX graph entry's content isn't what its name says",
    .severity = Severity::kError,
    .mend = "move the entry away: torch compiles the graph again and writes a good one",
};
const Check kAotAutogradName = {
    .id = "aotautograd.name",
    .title = "an AOTAutograd entry's content isn't what its name says",
    .severity = Severity::kError,
    .mend = "move the entry away: torch traces the model again and writes a good one",
};
const Check kEntryKey = {
    .id = "entry.key",
    .title = "an entry stands under another key than the one it was made for",
    .severity = Severity::kError,
    .mend = "move the entry away, or back to the directory of its own key",
};
const Check kEntryShard = {
    .id = "entry.shard",
    .title = "a key's directory stands in the wrong shard, where torch never looks",
    .severity = Severity::kWarning,
    .mend = "move the key's directory into the shard that its second and third letters name",
};
const Check kEntryCacheKey = {
    .id = "entry.cache-key",
    .title = "the module that an entry names isn't the one whose source it holds",
    .severity = Severity::kError,
    .mend = "move the entry away: torch compiles the graph again",
};
const Check kEntryGuards = {
    .id = "entry.guards",
    .title = "a guard that torch gives to Python's eval holds more than a guard may",
    .severity = Severity::kError,
    .mend = "don't let torch load it; `cachetool scan` says what loading the file would run",
};
const Check kEntryOutputStrides = {
    .id = "entry.output-strides",
    .title = "a stride that torch gives to Python's eval is more than an expression of sizes",
    .severity = Severity::kError,
    .mend = "don't let torch load it; `cachetool scan` says what loading the file would run",
};
const Check kEntryField = {
    .id = "entry.field",
    .title = "a field that loading the entry takes is missing or of another type",
    .severity = Severity::kError,
    .mend = "move the entry away: torch compiles again and writes a good one",
};
const Check kEntryConstant = {
    .id = "entry.constant",
    .title = "a constant's tensor can't be restored from what is stored of it",
    .severity = Severity::kWarning,
    .mend = "move the entry away: torch compiles the graph again",
};
const Check kEntryClass = {
    .id = "entry.class",
    .title = "an entry is of a class that no studied release of torch stores",
    .severity = Severity::kInfo,
    .mend = "look at it with `cachetool show`; a newer torch or a plugin may have written it",
};
const Check kPickleTruncated = {
    .id = "pickle.truncated",
    .title = "a pickle ends too early, or is empty",
    .severity = Severity::kWarning,
    .mend = "move the file away: torch reads it in vain at each lookup and never mends it",
};
const Check kPickleMalformed = {
    .id = "pickle.malformed",
    .title = "bytes that no unpickler accepts",
    .severity = Severity::kWarning,
    .mend = "move the file away: torch reads it in vain at each lookup and never mends it",
};
const Check kPickleTrailingBytes = {
    .id = "pickle.trailing-bytes",
    .title = "bytes follow the end of a pickle",
    .severity = Severity::kWarning,
    .mend = "move the file away; torch ignores such bytes, but never writes them",
};
const Check kPickleRootType = {
    .id = "pickle.root-type",
    .title = "a well-formed pickle of something else than its place is for",
    .severity = Severity::kError,
    .mend = "move the file away; `cachetool scan` says what loading it would run",
};
const Check kPickleDeviation = {
    .id = "pickle.deviation",
    .title = "a pickle holds what unpicklers let pass and no pickler writes",
    .severity = Severity::kWarning,
    .mend = "look at it with `cachetool scan` before anything loads it",
};

}  // namespace checks

CheckGroup entry_checks() {
  using namespace checks;
  static constexpr std::array<const Check*, 15> kAll = {
      &kFxGraphName,         &kAotAutogradName, &kEntryKey,           &kEntryShard,
      &kEntryCacheKey,       &kEntryGuards,     &kEntryOutputStrides, &kEntryField,
      &kEntryConstant,       &kEntryClass,      &kPickleTruncated,    &kPickleMalformed,
      &kPickleTrailingBytes, &kPickleRootType,  &kPickleDeviation};
  return {"Entries", kAll};
}

}  // namespace cachetool::verify
