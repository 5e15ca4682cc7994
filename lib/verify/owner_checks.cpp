#include "verify/owner_checks.h"

#include <array>

namespace cachetool::verify {

namespace checks {

const Check kOwnerForeign = {
    .id = "owner.foreign",
    .title = "something that torch executes belongs to another user, who may change it at any time",
    .severity = Severity::kError,
    .mend =
        "make the cache again as the user who loads it, or copy it and take ownership of the copy after a "
        "scan",
};
const Check kOwnerWorldWritable = {
    .id = "owner.world-writable",
    .title = "every user may write something that torch executes",
    .severity = Severity::kError,
    .mend = "take the right away with 'chmod -R o-w', then scan: it may have been used",
};
const Check kOwnerGroupWritable = {
    .id = "owner.group-writable",
    .title = "a group may write something that torch executes",
    .severity = Severity::kWarning,
    .mend = "take the right away with 'chmod -R g-w' where the group is more than this user",
};
const Check kOwnerWay = {
    .id = "owner.way",
    .title = "another user may put something else in the place of the cache or of a directory above it",
    .severity = Severity::kError,
    .mend = "keep the cache below directories that only this user and root may write",
};
const Check kOwnerLink = {
    .id = "owner.link",
    .title = "a symbolic link or something else that is no file stands where torch opens a file",
    .severity = Severity::kWarning,
    .mend = "remove it: torch never makes one, and it may lead to where others write",
};
const Check kOwnerHardLink = {
    .id = "owner.hard-link",
    .title = "a file has another name outside, through which it changes here too",
    .severity = Severity::kWarning,
    .mend = "copy the cache instead of linking its files",
};

}  // namespace checks

CheckGroup owner_checks() {
  static constexpr std::array<const Check*, 6> kChecks = {
      &checks::kOwnerForeign, &checks::kOwnerWorldWritable, &checks::kOwnerGroupWritable,
      &checks::kOwnerWay,     &checks::kOwnerLink,          &checks::kOwnerHardLink};
  return {"Owners and modes", kChecks};
}

}  // namespace cachetool::verify
