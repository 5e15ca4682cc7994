#include "change/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "change/journal.h"
#include "change/own_state.h"
#include "change/parents.h"
#include "change/quarantine.h"
#include "change/stage.h"
#include "change/write_whole.h"

namespace cachetool::change {
namespace {

using Locks = std::vector<std::unique_ptr<Lock>>;

UnitOutcome skipped(std::string why) {
  return {UnitState::kSkipped, std::move(why), {}, {}, {}};
}

UnitOutcome failed(Error error) {
  UnitOutcome outcome;
  outcome.state = UnitState::kFailed;
  outcome.error = std::move(error);
  return outcome;
}

bool is_gone(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kVanished;
}

/// Executes the units of a plan, one after the other.
class Executor {
 public:
  Executor(FileSystem& fs, const DirHandle& root, const Plan& plan, Stage& stage)
      : fs_(fs), lock_places_(fs, root), plan_(plan), stage_(stage) {}

  UnitOutcome execute(std::size_t index) {
    const PlannedUnit& unit = plan_.units[index];
    Locks held;
    if (auto refused = take_locks(unit, held)) return std::move(*refused);
    std::vector<std::size_t> present;
    if (auto refused = check_in_place(index, present)) return std::move(*refused);
    if (present.empty()) return skipped("it is gone");
    return move(index, present);
  }

 private:
  /// A lock file that isn't there is held by nobody, and isn't made: it would be ours, and torch of another
  /// user couldn't open it.
  std::optional<UnitOutcome> take_locks(const PlannedUnit& unit, Locks& held) {
    for (const std::string& path : unit.locks) {
      const auto place = lock_places_.find(path);
      if (!place) {
        if (is_gone(place.error())) continue;
        return failed(place.error());
      }
      const auto stat = fs_.stat(*place->directory, place->name);
      if (!stat) {
        if (is_gone(stat.error())) continue;
        return failed(at_path(stat.error(), path));
      }
      auto lock = fs_.try_lock(*place->directory, place->name, LockMode::kExclusive);
      if (!lock && lock.error().code == ErrorCode::kLocked) {
        return skipped(fmt::format("torch holds {}", escape_for_terminal(path)));
      }
      if (!lock && lock.error().code == ErrorCode::kUnsupported) {
        // There torch's lock is the file itself: torch/utils/_filelock.py falls back to a SoftFileLock.
        return skipped(fmt::format("{} is there, and this file system can't tell whether torch holds it",
                                   escape_for_terminal(path)));
      }
      if (!lock) return failed(at_path(std::move(lock.error()), path));
      held.push_back(std::move(*lock));
    }
    return std::nullopt;
  }

  /// What changed already needn't be moved aside, where torch would miss it for a moment.
  std::optional<UnitOutcome> check_in_place(std::size_t index, std::vector<std::size_t>& present) {
    const auto& paths = plan_.units[index].paths;
    for (std::size_t path = 0; path < paths.size(); ++path) {
      const auto found = stage_.look_in_place(index, path);
      if (!found && is_gone(found.error())) continue;
      if (!found) return failed(found.error());
      if (const auto changed = difference(paths[path].expected.identity, identity_of(*found))) {
        return skipped(fmt::format("{} changed since it was planned: {}",
                                   escape_for_terminal(paths[path].path), *changed));
      }
      present.push_back(path);
    }
    return std::nullopt;
  }

  UnitOutcome move(std::size_t index, const std::vector<std::size_t>& present) {
    const PlannedUnit& unit = plan_.units[index];
    std::vector<Staged> staged;
    for (const std::size_t path : present) {
      const auto taken = stage_.take(index, path);
      if (!taken) return undo(index, staged, failed(taken.error()));
      if (*taken) staged.push_back({path});
    }
    if (staged.empty()) return skipped("it is gone");
    for (const Staged one : staged) {
      if (auto refused = compare(index, one.path)) return undo(index, staged, std::move(*refused));
    }
    // What ends with one call, ends or can go back: a kill leaves nothing between.
    const bool at_once = staged.size() == 1 &&
                         (unit.action == Action::kQuarantine ||
                          unit.paths[staged.front().path].expected.identity.type != FileType::kDirectory);
    if (!at_once) {
      if (auto marked = stage_.mark(index, staged.front()); !marked) {
        return undo(index, staged, failed(std::move(marked.error())));
      }
    }
    if (auto finished = stage_.finish(index, staged); !finished) return failed(std::move(finished.error()));
    UnitOutcome done{UnitState::kDone, {}, {}, {}, {}};
    for (const Staged one : staged) done.amount += unit.paths[one.path].expected.amount;
    return done;
  }

  std::optional<UnitOutcome> compare(std::size_t index, std::size_t path) {
    const PlannedPath& planned = plan_.units[index].paths[path];
    const auto found = stage_.look(index, path);
    if (!found && !is_gone(found.error())) return failed(found.error());
    const auto changed = found ? difference(planned.expected, *found) : std::optional(found.error().message);
    if (!changed) return std::nullopt;
    UnitOutcome outcome;
    outcome.state = UnitState::kPutBack;
    outcome.why = fmt::format("{} changed meanwhile: {}", escape_for_terminal(planned.path), *changed);
    return outcome;
  }

  UnitOutcome undo(std::size_t index, const std::vector<Staged>& staged, UnitOutcome outcome) {
    Undone undone = stage_.undo(index, staged);
    outcome.kept = std::move(undone.kept);
    if (undone.error && outcome.state != UnitState::kFailed) {
      outcome.state = UnitState::kFailed;
      outcome.error = std::move(undone.error);
    }
    return outcome;
  }

  FileSystem& fs_;
  Parents lock_places_;
  const Plan& plan_;
  Stage& stage_;
};

/// A name that no run of this cache has or had, from the time.
Expected<Name> new_run_name(FileSystem& fs, const OwnState& state) {
  constexpr int kMostPerSecond = 10'000;
  std::string time = format_time_utc(fs.now());
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  if (!is_run_name(time)) time = "19700101T000000Z";  // a clock that is far off
  for (int number = 1; number < kMostPerSecond; ++number) {
    Name name = *Name::parse(number == 1 ? time : fmt::format("{}-{}", time, number));
    bool free = true;
    for (const DirHandle& dir : {state.journals, state.trash, state.quarantine}) {
      const auto stat = fs.stat(*dir, name);
      if (!stat && stat.error().code != ErrorCode::kNotFound) return tl::unexpected(stat.error());
      free = free && !stat;
    }
    if (free) return name;
  }
  return fail(ErrorCode::kExists, "no name is left for a run", ".cachetool");
}

Expected<Journal> begin_journal(FileSystem& fs, const OwnState& state, const Plan& plan) {
  auto name = new_run_name(fs, state);
  if (!name) return tl::unexpected(at_path(std::move(name.error()), ".cachetool"));
  Journal journal{name->str(), fs.now(), {}};
  journal.units.reserve(plan.units.size());
  for (const PlannedUnit& unit : plan.units) {
    journal.units.push_back({unit.label, unit.reason, unit.action, {}});
    for (const PlannedPath& path : unit.paths) journal.units.back().paths.push_back(path.path);
  }
  const std::string bytes = encode_journal(journal);
  const std::string path = ".cachetool/journal/" + journal.run;
  if (bytes.size() > kLongestJournal) {
    return fail(ErrorCode::kLimitSize, "the plan is too large for one run", path, {},
                "change less at a time");
  }
  if (auto written = write_whole(fs, *state.journals, *name, bytes, Replace::kNo); !written) {
    return tl::unexpected(at_path(std::move(written.error()), path));
  }
  return journal;
}

void run_units(Executor& executor, const Plan& plan, const Settings& settings, Outcome& outcome) {
  if (settings.progress != nullptr) settings.progress->expect(plan.units.size());
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    if (settings.interrupt != nullptr && settings.interrupt->requested()) {
      outcome.interrupted = true;
      outcome.units.resize(plan.units.size(), skipped("the run was interrupted"));
      return;
    }
    outcome.units.push_back(executor.execute(i));
    const UnitOutcome& unit = outcome.units.back();
    outcome.amount += unit.amount;
    if (settings.progress != nullptr) settings.progress->advance(1, unit.amount.bytes);
  }
}

}  // namespace

Expected<Outcome> execute(FileSystem& fs, const DirHandle& root, const Plan& plan, const Settings& settings) {
  Outcome outcome;
  if (plan.units.empty()) {
    auto recovered = recover(fs, root, settings.uid);
    if (!recovered) return tl::unexpected(std::move(recovered.error()));
    outcome.recovered = std::move(*recovered);
    return outcome;
  }
  auto state = make_own_state(fs, *root, settings.uid);
  if (!state) return tl::unexpected(std::move(state.error()));
  if (state->unlocked) outcome.problems.push_back(*state->unlocked);
  outcome.recovered = recover_locked(fs, root, *state);

  const auto journal = begin_journal(fs, *state, plan);
  if (!journal) return tl::unexpected(journal.error());
  outcome.run = journal->run;
  Stage stage(fs, root, *state, *journal);
  if (auto made = stage.make(); !made) return tl::unexpected(std::move(made.error()));
  Executor executor(fs, root, plan, stage);
  run_units(executor, plan, settings, outcome);

  auto closed = close_run(fs, *state, *journal);
  if (!closed) outcome.problems.push_back(std::move(closed.error()));
  if (closed && *closed) outcome.quarantine = ".cachetool/quarantine/" + journal->run;
  return outcome;
}

}  // namespace cachetool::change
