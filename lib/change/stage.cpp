#include "change/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "change/move.h"
#include "change/quarantine.h"
#include "change/remove_tree.h"

namespace cachetool::change {
namespace {

constexpr std::string_view kMark = ".go";

Name stage_name(std::size_t unit, Staged staged) {
  return *Name::parse(fmt::format("{}.{}{}", unit, staged.path, staged.marked ? kMark : std::string_view()));
}

/// Takes a number off the front of `text`, written as fmt writes it.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (problem != std::errc() || (digits > 1 && text.front() == '0')) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::optional<std::pair<std::size_t, Staged>> parse_stage_name(std::string_view text) {
  const auto unit = take_number(text);
  if (!unit || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const auto path = take_number(text);
  if (!path || (!text.empty() && text != kMark)) return std::nullopt;
  return std::pair(*unit, Staged{*path, !text.empty()});
}

/// The place where something was is no directory any more, or none of this file system.
bool has_no_place(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kNotRegular ||
         error.code == ErrorCode::kMountPoint || error.code == ErrorCode::kExists;
}

tl::unexpected<Error> failed_at(Error error, std::string_view path) {
  return tl::unexpected(at_path(std::move(error), path));
}

}  // namespace

Stage::Stage(FileSystem& fs, DirHandle root, const OwnState& state, const Journal& journal)
    : fs_(fs),
      state_(state),
      journal_(journal),
      run_(*Name::parse(journal.run)),
      places_(fs, std::move(root)) {}

Status Stage::make() {
  auto made = open_or_make(fs_, *state_.trash, run_, 0700);
  if (!made) return failed_at(std::move(made.error()), ".cachetool/trash/" + run_.str());
  stage_ = std::move(*made);
  return {};
}

Expected<bool> Stage::open() {
  auto opened = fs_.open_dir(*state_.trash, run_);
  if (!opened && opened.error().code == ErrorCode::kNotFound) return false;
  if (!opened) return failed_at(std::move(opened.error()), ".cachetool/trash/" + run_.str());
  stage_ = std::move(*opened);
  return true;
}

Expected<std::map<std::size_t, std::vector<Staged>>> Stage::contents(std::vector<Error>& problems) {
  const std::string place = ".cachetool/trash/" + run_.str();
  auto entries = fs_.list(*stage_);
  if (!entries) return failed_at(std::move(entries.error()), place);
  std::map<std::size_t, std::vector<Staged>> units;
  for (const DirEntry& entry : *entries) {
    const auto parsed = parse_stage_name(entry.name.str());
    if (parsed && parsed->first < journal_.units.size() &&
        parsed->second.path < journal_.units[parsed->first].paths.size()) {
      units[parsed->first].push_back(parsed->second);
    } else {
      problems.push_back({ErrorCode::kMalformed,
                          "is nothing that the run's journal names",
                          store::join_path(place, entry.name.str()),
                          {},
                          {}});
    }
  }
  for (auto& [unit, staged] : units) {
    std::sort(staged.begin(), staged.end(), [](Staged a, Staged b) { return a.path < b.path; });
  }
  return units;
}

const std::string& Stage::path_of(std::size_t unit, std::size_t path) const {
  return journal_.units[unit].paths[path];
}

Expected<bool> Stage::take(std::size_t unit, std::size_t path) {
  auto place = places_.find(path_of(unit, path));
  if (!place && place.error().code == ErrorCode::kNotFound) return false;
  if (!place) return tl::unexpected(std::move(place.error()));
  const Name staged = stage_name(unit, {path});
  const auto moved = fs_.rename(*place->directory, place->name, *stage_, staged, Replace::kYes);
  if (moved) return true;
  // A network file system may have renamed and yet report a failure.
  if (fs_.stat(*stage_, staged)) return true;
  if (moved.error().code == ErrorCode::kNotFound) return false;
  return failed_at(moved.error(), path_of(unit, path));
}

Expected<FileStat> Stage::look_in_place(std::size_t unit, std::size_t path) {
  auto place = places_.find(path_of(unit, path));
  if (!place) return tl::unexpected(std::move(place.error()));
  auto stat = fs_.stat(*place->directory, place->name);
  if (!stat) return failed_at(std::move(stat.error()), path_of(unit, path));
  return stat;
}

Expected<Snapshot> Stage::look(std::size_t unit, std::size_t path) {
  auto snapshot = take_snapshot(fs_, *stage_, stage_name(unit, {path}));
  if (!snapshot) return failed_at(std::move(snapshot.error()), path_of(unit, path));
  return snapshot;
}

Status Stage::mark(std::size_t unit, Staged& staged) {
  Staged marked = staged;
  marked.marked = true;
  const auto renamed =
      fs_.rename(*stage_, stage_name(unit, staged), *stage_, stage_name(unit, marked), Replace::kYes);
  if (!renamed) return failed_at(renamed.error(), path_of(unit, staged.path));
  staged = marked;
  return {};
}

Status Stage::finish(std::size_t unit, const std::vector<Staged>& staged) {
  for (const bool marked : {false, true}) {
    for (const Staged one : staged) {
      if (one.marked != marked) continue;
      if (auto ended = end(unit, one); !ended) return ended;
    }
  }
  return {};
}

Status Stage::end(std::size_t unit, Staged staged) {
  const Name name = stage_name(unit, staged);
  const Status ended = journal_.units[unit].action == Action::kQuarantine
                           ? quarantine(name, path_of(unit, staged.path))
                           : remove(name);
  if (!ended) return failed_at(ended.error(), path_of(unit, staged.path));
  return {};
}

Status Stage::remove(const Name& staged) {
  const Status removed = fs_.unlink(*stage_, staged);
  // Most are files; a directory refuses.
  return removed || removed.error().code != ErrorCode::kNotRegular ? removed
                                                                   : remove_tree(fs_, *stage_, staged);
}

Undone Stage::undo(std::size_t unit, const std::vector<Staged>& staged) {
  Undone undone;
  for (auto one = staged.rbegin(); one != staged.rend(); ++one) {
    auto back = put_back(unit, *one);
    if (!back && !undone.error) undone.error = at_path(std::move(back.error()), path_of(unit, one->path));
    if (back && *back == Back::kKept) undone.kept.push_back(path_of(unit, one->path));
  }
  return undone;
}

Expected<Stage::Back> Stage::put_back(std::size_t unit, Staged staged) {
  const std::string& path = path_of(unit, staged.path);
  const Name name = stage_name(unit, staged);
  places_.forget();
  auto place = places_.find(path);
  const Status moved = place ? move_to_free_name(fs_, {stage_, name}, *place)
                             : Status(tl::unexpected(std::move(place.error())));
  if (moved) {
    if (auto synced = fs_.sync(*place->directory); !synced) return tl::unexpected(std::move(synced.error()));
    return Back::kInPlace;
  }
  if (!has_no_place(moved.error())) return tl::unexpected(moved.error());
  return quarantine(name, path).map([] { return Back::kKept; });
}

Status Stage::quarantine(const Name& staged, const std::string& path) {
  if (!quarantine_) {
    auto files = make_quarantine(fs_, state_, run_);
    if (!files) return tl::unexpected(std::move(files.error()));
    quarantine_.emplace(fs_, std::move(*files));
  }
  auto place = quarantine_->make(path, 0700);
  if (!place) return tl::unexpected(std::move(place.error()));
  return move_to_free_name(fs_, {stage_, staged}, *place);
}

}  // namespace cachetool::change
