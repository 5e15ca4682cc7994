#include "change/quarantine.h"

#include <utility>

#include "base/json_writer.h"
#include "base/output.h"
#include "base/units.h"
#include "change/parents.h"
#include "change/remove_tree.h"
#include "change/write_whole.h"

namespace cachetool::change {
namespace {

Name name(std::string_view text) {
  return *Name::parse(text);
}

tl::unexpected<Error> failed_at(Error error, const std::string& path) {
  return tl::unexpected(at_path(std::move(error), path));
}

std::string manifest_text(const Journal& journal, const std::vector<Held>& held) {
  StringSink sink;
  {
    JsonWriter json(sink, JsonStyle::kIndented);
    json.begin_object();
    json.member("schema", "cachetool.quarantine/1");
    json.member("run", journal.run);
    json.member("created", format_time_utc(journal.created_ns));
    json.member("restore", "move each path from files/ to the same path in the cache");
    json.key("units");
    json.begin_array();
    for (std::size_t i = 0; i < held.size();) {
      const JournalUnit& unit = journal.units[held[i].unit];
      json.begin_object();
      json.member("label", unit.label);
      json.member("reason", unit.reason);
      json.member("state", unit.action == Action::kQuarantine
                               ? "in quarantine"
                               : "changed while it was being removed, and its place was taken");
      json.key("paths");
      json.begin_array();
      for (const std::size_t own = held[i].unit; i < held.size() && held[i].unit == own; ++i) {
        json.string(unit.paths[held[i].path]);
      }
      json.end_array();
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  return sink.take() + "\n";
}

Status remove_journal(FileSystem& fs, const OwnState& state, const Name& run) {
  return fs.unlink(*state.journals, run).and_then([&] { return fs.sync(*state.journals); });
}

}  // namespace

Expected<DirHandle> make_quarantine(FileSystem& fs, const OwnState& state, const Name& run) {
  auto own = open_or_make(fs, *state.quarantine, run, 0700);
  if (!own) return own;
  return open_or_make(fs, **own, name("files"), 0700);
}

Expected<std::vector<Held>> held_in(FileSystem& fs, const DirHandle& files, const Journal& journal) {
  Parents places(fs, files);
  std::vector<Held> held;
  for (std::size_t unit = 0; unit < journal.units.size(); ++unit) {
    for (std::size_t path = 0; path < journal.units[unit].paths.size(); ++path) {
      const auto found =
          places.find(journal.units[unit].paths[path]).and_then([&](const store::OpenPlace& place) {
            return fs.stat(*place.directory, place.name);
          });
      if (found) {
        held.push_back({unit, path});
      } else if (found.error().code != ErrorCode::kNotFound) {
        return tl::unexpected(found.error());
      }
    }
  }
  return held;
}

Status write_manifest(FileSystem& fs, const Directory& quarantine, const Journal& journal,
                      const std::vector<Held>& held) {
  return write_whole(fs, quarantine, name("manifest.json"), manifest_text(journal, held), Replace::kYes);
}

Expected<bool> close_run(FileSystem& fs, const OwnState& state, const Journal& journal) {
  const Name run = name(journal.run);
  const std::string stage = ".cachetool/trash/" + journal.run;
  const std::string quarantine = ".cachetool/quarantine/" + journal.run;
  const auto removed = fs.remove_dir(*state.trash, run);
  if (!removed && removed.error().code == ErrorCode::kExists) {
    return fail(ErrorCode::kExists, "what was moved there isn't settled: the next change tries again", stage);
  }
  if (!removed && removed.error().code != ErrorCode::kNotFound) return failed_at(removed.error(), stage);

  auto own = fs.open_dir(*state.quarantine, run);
  if (!own && own.error().code != ErrorCode::kNotFound) return failed_at(std::move(own.error()), quarantine);
  std::vector<Held> held;
  if (own) {
    auto files = open_or_make(fs, **own, name("files"), 0700);
    if (!files) return failed_at(std::move(files.error()), quarantine);
    auto found = held_in(fs, *files, journal);
    if (!found) return failed_at(std::move(found.error()), quarantine);
    held = std::move(*found);
  }
  Status closed;
  if (held.empty()) {
    if (own) closed = remove_tree(fs, *state.quarantine, run, Files::kRefuse);
    if (closed) closed = remove_journal(fs, state, run);
  } else {
    closed =
        remove_temporaries(fs, **own)
            .and_then([&] { return write_manifest(fs, **own, journal, held); })
            .and_then([&] { return fs.rename(*state.journals, run, **own, name("record"), Replace::kYes); })
            .and_then([&] { return fs.sync(**own); })
            .and_then([&] { return fs.sync(*state.journals); });
  }
  if (!closed)
    return failed_at(closed.error(), held.empty() ? ".cachetool/journal/" + journal.run : quarantine);
  return !held.empty();
}

Status remove_temporaries(FileSystem& fs, const Directory& dir) {
  const auto entries = fs.list(dir);
  if (!entries) return tl::unexpected(entries.error());
  for (const DirEntry& entry : *entries) {
    const std::string& text = entry.name.str();
    if (!text.starts_with(".cachetool.") || !text.ends_with(".tmp")) continue;
    if (auto removed = fs.unlink(dir, entry.name); !removed) return removed;
  }
  return {};
}

}  // namespace cachetool::change
