#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "change/own_state.h"

namespace cachetool::change {

/// An earlier run that was cut off, and what became of what it had begun.
struct RecoveredRun {
  std::string run;
  std::vector<std::string> finished;  ///< labels of units that went to their end
  std::vector<std::string> undone;    ///< labels of units that were put back
  std::vector<std::string> kept;      ///< paths that couldn't go back to their place: in the run's quarantine
};

struct Recovery {
  std::vector<RecoveredRun> runs;
  std::vector<Error> problems;  ///< what couldn't be settled and is tried again the next time
};

/// Settles every run that an earlier process left unfinished in the root's `.cachetool`. A unit that had been
/// compared with the plan is finished, any other is put back; nothing is ever taken from the cache. May be
/// repeated and cut off at any point. With nothing to do it writes nothing but the lock file. Fails when the
/// state can't be opened (see open_own_state); what fails later is in `problems`.
Expected<Recovery> recover(FileSystem& fs, const DirHandle& root, std::uint32_t uid);

/// The same under a lock that is held already.
Recovery recover_locked(FileSystem& fs, const DirHandle& root, const OwnState& state);

}  // namespace cachetool::change
