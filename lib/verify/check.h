#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "torch/entry_summary.h"
#include "verify/severity.h"

namespace cachetool::verify {

/// The severity of a check for a range of torch releases, where it differs from the check's own.
struct FamilySeverity {
  torch::ReleaseFamily first;
  torch::ReleaseFamily last;
  Severity severity;
};

/// One thing that is looked for. Its id is stable: users filter on it, and docs/checks.md has a section of
/// that name (what, why it matters, what torch does, how to mend it). A test compares the two.
struct Check {
  std::string_view id;  ///< "fxgraph.name": what is looked at, then what is wrong with it
  std::string_view
      title;  ///< one clause for a person, such as "an FX graph entry's content isn't what its name says"
  Severity severity = Severity::kError;  ///< the worst among the supported releases
  std::string_view mend;                 ///< one sentence: what to do about it
  std::span<const FamilySeverity> by_family = {};
};

/// The severity for an entry that releases `first` to `last` may have written: the worst of that range; the
/// check's own severity when the release isn't known.
Severity severity_for(const Check& check, torch::ReleaseFamily first, torch::ReleaseFamily last);

/// Checks that belong together and are documented under one heading.
struct CheckGroup {
  std::string_view title;
  std::span<const Check* const> checks;
};

/// Every check that verify and doctor know, in the order of docs/checks.md.
std::vector<CheckGroup> all_checks();
/// The check of that id; null when there is none.
const Check* find_check(std::string_view id);

}  // namespace cachetool::verify
