#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "change/journal.h"
#include "change/own_state.h"

namespace cachetool::change {

// `.cachetool/quarantine/<run>/` holds:
//     files/         what was moved there, under its path below the root
//     manifest.json  for people: what, why, when
//     record         for `restore`: the run's journal

/// Opens `files/` of a run's quarantine; made where it is missing.
Expected<DirHandle> make_quarantine(FileSystem& fs, const OwnState& state, const Name& run);

/// A path of a run that lies in its quarantine.
struct Held {
  std::size_t unit = 0;
  std::size_t path = 0;
};

/// Every path of the journal that is in `files`.
Expected<std::vector<Held>> held_in(FileSystem& fs, const DirHandle& files, const Journal& journal);

/// Writes manifest.json of what is held, in place of an older one.
Status write_manifest(FileSystem& fs, const Directory& quarantine, const Journal& journal,
                      const std::vector<Held>& held);

/// Ends a run whose stage is empty: removes the stage; writes the manifest and keeps the journal as its
/// record where something is in quarantine; removes the journal. kExists when the stage isn't empty. Gives
/// whether the run has a quarantine.
Expected<bool> close_run(FileSystem& fs, const OwnState& state, const Journal& journal);

/// Removes what a kill left of write_whole in `dir`. Under the lock nobody else writes there.
Status remove_temporaries(FileSystem& fs, const Directory& dir);

}  // namespace cachetool::change
