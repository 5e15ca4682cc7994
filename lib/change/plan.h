#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "change/snapshot.h"

namespace cachetool::change {

enum class Action : std::uint8_t {
  kQuarantine,  ///< into `.cachetool/quarantine/<run>/`, from where it can be restored
  kRemove,      ///< into `.cachetool/trash/<run>/`, then unlinked
};

/// What somebody wants changed: paths below one root that go together or stay together.
struct UnitRequest {
  std::string label;   ///< for a person: a key, a path
  std::string reason;  ///< why, such as the id of a check
  Action action = Action::kQuarantine;
  std::vector<std::string> paths;  ///< files or directories; '/' between components
  /// Lock files below the root to be held meanwhile, beside those that the paths tell (torch_locks_of, and
  /// every lock file in a directory).
  std::vector<std::string> locks = {};
};

struct PlannedPath {
  std::string path;
  Snapshot expected;
};

/// A request whose paths were looked at.
struct PlannedUnit {
  std::string label;
  std::string reason;
  Action action = Action::kQuarantine;
  std::vector<std::string> locks;  ///< sorted, each once
  std::vector<PlannedPath> paths;  ///< in the order in which they go, see order_of_removal
  Amount amount;
};

/// A request, or one of its paths, that isn't in the plan.
struct LeftOut {
  std::string label;
  std::string why;             ///< a clause
  std::optional<Error> error;  ///< where it couldn't be looked at or may not be changed
};

/// What will be changed in one root. Plain data: a dry run prints it and that is all.
struct Plan {
  std::vector<PlannedUnit> units;
  std::vector<LeftOut> left_out;
  Amount amount() const;
};

/// Looks at everything that `requests` name; writes nothing. Units keep the order of their requests, which is
/// the order in which they are executed: entries belong before what they name. Requests that overlap (the
/// same path, or one inside another's directory) become one unit in the place of the first, in quarantine if
/// any of them asks for that. Left out are paths that are gone and requests without any other, requests with
/// a path that can't be looked at, and those that would take what must stay while torch may run: lock files,
/// shard directories, the root itself, `.cachetool`.
Plan make_plan(FileSystem& fs, const DirHandle& root, std::vector<UnitRequest> requests);

/// The order in which the paths of a unit go: what torch looks for first goes first, so that whatever is left
/// is rebuilt or never looked at. AOTAutograd entries, graph entries, marks (`….load_ok`), autotune results,
/// shared objects and other results, Python modules, sources, headers, directories; then by name. Smaller
/// goes earlier.
int order_of_removal(std::string_view path, FileType type);

}  // namespace cachetool::change
