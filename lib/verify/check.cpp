#include "verify/check.h"

#include <algorithm>

#include "verify/entry_checks.h"
#include "verify/leftover_checks.h"
#include "verify/machine_checks.h"
#include "verify/owner_checks.h"
#include "verify/place_checks.h"
#include "verify/reference_checks.h"
#include "verify/source_checks.h"
#include "verify/structure_checks.h"
#include "verify/triton_checks.h"
#include "verify/vllm_checks.h"

namespace cachetool::verify {

Severity severity_for(const Check& check, torch::ReleaseFamily first, torch::ReleaseFamily last) {
  if (first == torch::ReleaseFamily::kUnknown) return check.severity;
  std::optional<Severity> worst;
  for (auto family = first; family <= last;
       family = static_cast<torch::ReleaseFamily>(static_cast<int>(family) + 1)) {
    Severity severity = check.severity;
    for (const FamilySeverity& rule : check.by_family)
      if (rule.first <= family && family <= rule.last) severity = rule.severity;
    worst = worst ? std::max(*worst, severity) : severity;
  }
  return worst.value_or(check.severity);
}

std::vector<CheckGroup> all_checks() {
  return {entry_checks(),     source_checks(),   structure_checks(), triton_checks(), vllm_checks(),
          reference_checks(), leftover_checks(), machine_checks(),   owner_checks(),  place_checks()};
}

const Check* find_check(std::string_view id) {
  for (const CheckGroup& group : all_checks())
    for (const Check* check : group.checks)
      if (check->id == id) return check;
  return nullptr;
}

}  // namespace cachetool::verify
