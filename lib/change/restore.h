#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "change/recover.h"

namespace cachetool::change {

/// A unit of a quarantine that was to go back into the cache.
struct RestoredUnit {
  std::string label;
  bool done = false;           ///< all of it is back in its place
  std::string why;             ///< a clause where it stays because something new is in a place of it
  std::optional<Error> error;  ///< where it failed: what is left of it stays in quarantine
};

struct Restored {
  std::vector<RestoredUnit> units;
  bool complete = false;  ///< nothing is left, the quarantine of the run is removed
  Recovery recovered;     ///< of runs that were cut off, before
  std::vector<Error> problems;
};

/// Moves what the run `run` put into quarantine back to its places, in the reverse order, without replacing
/// anything: a unit with a place that is taken stays as a whole. Directories that are gone are made. Cut off
/// at any point it may be repeated. kNotFound when there is no such quarantine; fails like open_own_state and
/// read_journal.
Expected<Restored> restore(FileSystem& fs, const DirHandle& root, std::string_view run, std::uint32_t uid);

}  // namespace cachetool::change
