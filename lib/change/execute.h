#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "change/plan.h"
#include "change/recover.h"

namespace cachetool::change {

enum class UnitState : std::uint8_t {
  kDone,     ///< in quarantine, or gone
  kSkipped,  ///< not touched: held by torch, changed before, gone, or the run was interrupted
  kPutBack,  ///< was moved aside, then found to have changed, and put back
  kFailed,   ///< see the error; what had been moved was put back, or is settled by the next recovery
};

struct UnitOutcome {
  UnitState state = UnitState::kSkipped;
  std::string why;                ///< a clause, of a skipped unit and one that was put back
  std::optional<Error> error;     ///< of a failed one; its path is below the root
  Amount amount;                  ///< of a done one: what went
  std::vector<std::string> kept;  ///< paths with something new in their place: the old is in the quarantine
};

struct Outcome {
  std::string run;                 ///< empty when nothing was to be done
  std::string quarantine;          ///< ".cachetool/quarantine/<run>" when something is in it
  std::vector<UnitOutcome> units;  ///< one for each of the plan, in its order
  Amount amount;                   ///< of all that are done
  bool interrupted = false;
  Recovery recovered;           ///< of earlier runs, before this one
  std::vector<Error> problems;  ///< beside the units: no lock, a journal that couldn't be closed
};

struct Settings {
  std::uint32_t uid = 0;                 ///< of this user, see open_own_state
  const Interrupt* interrupt = nullptr;  ///< asked between units
  Progress* progress = nullptr;          ///< an item per unit
};

/// Changes a cache as planned, while torch may use it:
/// 1. `.cachetool/` is made or checked, its lock taken, earlier runs are recovered.
/// 2. The journal is written and synced.
/// 3. Unit by unit: torch's locks are taken (without waiting), each path is compared with the plan, moved
///    aside, compared again and only then unlinked or kept in quarantine. A unit that changed goes back to
///    its place, never over something that was written there meanwhile.
/// 4. The journal is removed, or becomes the record of the quarantine.
/// Killed at any moment, `recover` settles what was begun. A unit's failure doesn't stop the others. Fails as
/// a whole, with nothing changed, when the state can't be made, is locked or not to be trusted, or the
/// journal can't be written. An empty plan in a root without `.cachetool` writes nothing.
Expected<Outcome> execute(FileSystem& fs, const DirHandle& root, const Plan& plan, const Settings& settings);

}  // namespace cachetool::change
