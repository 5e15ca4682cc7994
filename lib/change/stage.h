#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "change/journal.h"
#include "change/own_state.h"
#include "change/parents.h"
#include "change/snapshot.h"

namespace cachetool::change {

/// A path of a unit that lies in the stage.
struct Staged {
  std::size_t path = 0;  ///< index into JournalUnit::paths
  bool marked = false;   ///< the unit was found as planned: it goes on to its end
};

/// What became of the paths that were to go back.
struct Undone {
  std::vector<std::string> kept;  ///< paths whose place is taken or gone: now in the quarantine of the run
  std::optional<Error> error;     ///< the first failure; what it concerns is still in the stage
};

/// Where the paths of a run are between the cache and their end: `.cachetool/trash/<run>/<unit>.<path>`, two
/// numbers. The name alone says how it goes on, so a journal is never written to again: a unit of which one
/// path ends in ".go" was compared with the plan and goes to its end (unlinked, or into the quarantine); any
/// other goes back. The marked path leaves last.
class Stage {
 public:
  /// Both must outlive this.
  Stage(FileSystem& fs, DirHandle root, const OwnState& state, const Journal& journal);

  /// Makes the run's directory.
  Status make();
  /// Opens it; false when there is none.
  Expected<bool> open();

  /// Everything in the stage by unit, in the order of paths. Foreign names are errors in `problems`.
  Expected<std::map<std::size_t, std::vector<Staged>>> contents(std::vector<Error>& problems);

  /// Moves a path from its place into the stage; false when it is gone.
  Expected<bool> take(std::size_t unit, std::size_t path);
  /// The place of a path as it is now.
  Expected<FileStat> look_in_place(std::size_t unit, std::size_t path);
  /// A path in the stage as it is now.
  Expected<Snapshot> look(std::size_t unit, std::size_t path);
  /// From here on the unit goes to its end whatever happens.
  Status mark(std::size_t unit, Staged& staged);

  /// Takes a unit to its end by its action: unlinks, or moves into the quarantine.
  Status finish(std::size_t unit, const std::vector<Staged>& staged);
  /// Puts a unit back, last path first, each without replacing anything: what has no place any more goes into
  /// the quarantine.
  Undone undo(std::size_t unit, const std::vector<Staged>& staged);

 private:
  enum class Back : bool { kInPlace, kKept };

  const std::string& path_of(std::size_t unit, std::size_t path) const;
  Status end(std::size_t unit, Staged staged);
  Expected<Back> put_back(std::size_t unit, Staged staged);
  Status remove(const Name& staged);
  Status quarantine(const Name& staged, const std::string& path);

  FileSystem& fs_;
  const OwnState& state_;
  const Journal& journal_;
  Name run_;
  Parents places_;
  DirHandle stage_;
  std::optional<Parents> quarantine_;
};

}  // namespace cachetool::change
