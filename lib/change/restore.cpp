#include "change/restore.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "change/journal.h"
#include "change/move.h"
#include "change/own_state.h"
#include "change/parents.h"
#include "change/quarantine.h"
#include "change/remove_tree.h"

namespace cachetool::change {
namespace {

constexpr std::uint32_t kAsTorchMakesThem = 0755;

Name name(std::string_view text) {
  return *Name::parse(text);
}

/// Moves units between the quarantine of a run and the cache.
class Restorer {
 public:
  Restorer(FileSystem& fs, const DirHandle& root, const DirHandle& files, const Journal& journal)
      : fs_(fs), places_(fs, root), files_(fs, files), journal_(journal) {}

  RestoredUnit restore(std::size_t unit, const std::vector<std::size_t>& held) {
    RestoredUnit result{journal_.units[unit].label, false, {}, {}};
    for (const std::size_t index : held) {
      const std::string& path = journal_.units[unit].paths[index];
      const auto taken = is_taken(path);
      if (taken && !*taken) continue;
      if (taken) {
        result.why = fmt::format("something new is at {}", escape_for_terminal(path));
      } else {
        result.error = taken.error();
      }
      return result;
    }
    for (auto index = held.rbegin(); index != held.rend(); ++index) {
      const std::string& path = journal_.units[unit].paths[*index];
      if (auto moved = put_back(path); !moved) {
        result.error = at_path(std::move(moved.error()), path);
        return result;
      }
    }
    result.done = true;
    return result;
  }

 private:
  /// The second name that a kill between link and unlink leaves doesn't take a place.
  Expected<bool> is_taken(const std::string& path) {
    const auto at = [&](Parents& parents) {
      return parents.find(path).and_then(
          [&](const store::OpenPlace& place) { return fs_.stat(*place.directory, place.name); });
    };
    const auto there = at(places_);
    if (!there && there.error().code == ErrorCode::kNotFound) return false;
    if (!there) return tl::unexpected(at_path(there.error(), path));
    const auto ours = at(files_);
    return !(ours && ours->type != FileType::kDirectory && ours->device == there->device &&
             ours->inode == there->inode);
  }

  Status put_back(const std::string& path) {
    auto from = files_.find(path);
    if (!from) return tl::unexpected(std::move(from.error()));
    auto to = places_.make(path, kAsTorchMakesThem);
    if (!to) return tl::unexpected(std::move(to.error()));
    return move_to_free_name(fs_, *from, *to).and_then([&] { return fs_.sync(*to->directory); });
  }

  FileSystem& fs_;
  Parents places_;
  Parents files_;
  const Journal& journal_;
};

/// Removes the quarantine of a run that holds nothing any more, the record last.
Status remove_quarantine(FileSystem& fs, const OwnState& state, const Directory& own, const Name& run) {
  return remove_temporaries(fs, own)
      .and_then([&] { return remove_tree(fs, own, name("files"), Files::kRefuse); })
      .and_then([&] { return remove_tree(fs, own, name("manifest.json")); })
      .and_then([&] { return remove_tree(fs, own, name("record")); })
      .and_then([&] { return fs.remove_dir(*state.quarantine, run); });
}

}  // namespace

Expected<Restored> restore(FileSystem& fs, const DirHandle& root, std::string_view run, std::uint32_t uid) {
  const std::string place = ".cachetool/quarantine/" + std::string(run);
  if (!is_run_name(run)) return fail(ErrorCode::kUsage, "is not the name of a run", std::string(run));
  auto state = open_own_state(fs, *root, uid);
  if (!state) return tl::unexpected(std::move(state.error()));
  if (!*state) return fail(ErrorCode::kNotFound, "there is no quarantine of that run", place);
  Restored restored;
  restored.recovered = recover_locked(fs, root, **state);

  auto own = fs.open_dir(*(*state)->quarantine, name(run));
  if (!own) return tl::unexpected(at_path(std::move(own.error()), place));
  const auto record = read_journal(fs, **own, name("record"));
  if (!record) return tl::unexpected(at_path(record.error(), place + "/record"));
  if (record->run != run)
    return fail(ErrorCode::kMalformed, "is the record of another run", place + "/record");
  auto files = open_or_make(fs, **own, name("files"), 0700);
  if (!files) return tl::unexpected(at_path(std::move(files.error()), place + "/files"));
  const auto held = held_in(fs, *files, *record);
  if (!held) return tl::unexpected(held.error());

  std::map<std::size_t, std::vector<std::size_t>, std::greater<>> units;
  for (const Held one : *held) units[one.unit].push_back(one.path);
  Restorer restorer(fs, root, *files, *record);
  for (const auto& [unit, paths] : units) restored.units.push_back(restorer.restore(unit, paths));

  const auto left = held_in(fs, *files, *record);
  restored.complete = left && left->empty();
  Status closed = left ? Status() : Status(tl::unexpected(left.error()));
  if (restored.complete) {
    closed = remove_quarantine(fs, **state, **own, name(run));
  } else if (left) {
    closed = write_manifest(fs, **own, *record, *left);
  }
  if (!closed) restored.problems.push_back(at_path(std::move(closed.error()), place));
  return restored;
}

}  // namespace cachetool::change
