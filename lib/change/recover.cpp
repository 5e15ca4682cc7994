#include "change/recover.h"

#include <utility>

#include "change/journal.h"
#include "change/quarantine.h"
#include "change/stage.h"

namespace cachetool::change {
namespace {

bool is_marked(const std::vector<Staged>& unit) {
  for (const Staged staged : unit) {
    if (staged.marked) return true;
  }
  return false;
}

/// Settles what one journal names.
Status settle(FileSystem& fs, const DirHandle& root, const OwnState& state, const Journal& journal,
              RecoveredRun& result, std::vector<Error>& problems) {
  Stage stage(fs, root, state, journal);
  const auto exists = stage.open();
  if (!exists) return tl::unexpected(exists.error());
  if (*exists) {
    const auto units = stage.contents(problems);
    if (!units) return tl::unexpected(units.error());
    for (const auto& [unit, staged] : *units) {
      const std::string& label = journal.units[unit].label;
      if (is_marked(staged)) {
        if (auto finished = stage.finish(unit, staged); finished) {
          result.finished.push_back(label);
        } else {
          problems.push_back(std::move(finished.error()));
        }
        continue;
      }
      Undone undone = stage.undo(unit, staged);
      if (undone.error) {
        problems.push_back(std::move(*undone.error));
      } else {
        result.undone.push_back(label);
      }
      result.kept.insert(result.kept.end(), undone.kept.begin(), undone.kept.end());
    }
  }
  auto closed = close_run(fs, state, journal);
  if (!closed) return tl::unexpected(std::move(closed.error()));
  return {};
}

/// Settles the run of one journal file.
void recover_run(FileSystem& fs, const DirHandle& root, const OwnState& state, const Name& file,
                 Recovery& recovery) {
  auto journal = read_journal(fs, *state.journals, file);
  if (journal && journal->run != file.str()) {
    journal = fail(ErrorCode::kMalformed, "the journal is of another run");
  }
  if (!journal) {
    Error error = at_path(std::move(journal.error()), ".cachetool/journal/" + file.str());
    error.hint = "what the run had moved is in .cachetool/trash/" + file.str();
    recovery.problems.push_back(std::move(error));
    return;
  }
  RecoveredRun result{journal->run, {}, {}, {}};
  const auto settled = settle(fs, root, state, *journal, result, recovery.problems);
  if (!settled) recovery.problems.push_back(settled.error());
  recovery.runs.push_back(std::move(result));
}

/// What is in the trash without a journal can't go back: nobody knows where it was.
void check_trash(FileSystem& fs, const OwnState& state, Recovery& recovery) {
  const auto entries = fs.list(*state.trash);
  if (!entries) {
    recovery.problems.push_back(at_path(entries.error(), ".cachetool/trash"));
    return;
  }
  for (const DirEntry& entry : *entries) {
    const auto journal = fs.stat(*state.journals, entry.name);
    if (journal || journal.error().code != ErrorCode::kNotFound) continue;
    if (fs.remove_dir(*state.trash, entry.name)) continue;
    recovery.problems.push_back({ErrorCode::kExists,
                                 "belongs to no journal, so where it was is not known",
                                 ".cachetool/trash/" + entry.name.str(),
                                 {},
                                 "remove it when you don't miss anything"});
  }
}

}  // namespace

Recovery recover_locked(FileSystem& fs, const DirHandle& root, const OwnState& state) {
  Recovery recovery;
  const auto note = [&recovery](Error error, std::string_view path) {
    recovery.problems.push_back(at_path(std::move(error), path));
  };
  if (auto removed = remove_temporaries(fs, *state.journals); !removed) {
    note(std::move(removed.error()), ".cachetool/journal");
  }
  const auto entries = fs.list(*state.journals);
  if (!entries) {
    note(entries.error(), ".cachetool/journal");
    return recovery;
  }
  for (const DirEntry& entry : *entries) {
    if (is_run_name(entry.name.str())) recover_run(fs, root, state, entry.name, recovery);
  }
  check_trash(fs, state, recovery);
  return recovery;
}

Expected<Recovery> recover(FileSystem& fs, const DirHandle& root, std::uint32_t uid) {
  auto state = open_own_state(fs, *root, uid);
  if (!state) return tl::unexpected(std::move(state.error()));
  if (!*state) return Recovery{};
  return recover_locked(fs, root, **state);
}

}  // namespace cachetool::change
