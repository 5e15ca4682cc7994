#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/output.h"
#include "report/format.h"
#include "report/json_path.h"
#include "store/entry_references.h"
#include "store/opened_entry.h"

namespace cachetool::report {

/// One entry with what is known of its surroundings.
struct EntryReport {
  const store::OpenedEntry& entry;
  std::string cache;                                             ///< root of the cache, absolute
  std::optional<std::vector<store::EntryReference>> references;  ///< nothing for a file that lies in no cache
  std::vector<std::string> users;                                ///< entries that refer to it
  std::int64_t now_ns = 0;
};

/// Strings over 4 KiB: as length and hash, or whole.
enum class Strings : bool { kShortened, kFull };

/// Writes the entry as an object with exactly the members of an item of cachetool.entry/1.
void write_entry_item(JsonWriter& json, const EntryReport& report, Strings strings);

/// Sections for a person.
void write_entry(OutputSink& sink, const EntryReport& report, const Look& look);

/// How text out of an entry is written: for a terminal, or byte for byte.
enum class RawText : bool { kEscaped, kExact };

// Parts of an entry that `show` prints by themselves. Each returns false, having written nothing, when the
// entry lacks that part.

/// The wrapper modules' text.
bool write_source(OutputSink& sink, const store::OpenedEntry& entry, RawText raw);
/// The printed graphs that the entry keeps for debugging.
bool write_graph(OutputSink& sink, const store::OpenedEntry& entry, RawText raw);
/// What went into the key: hash, path and text of each component.
bool write_key_details(OutputSink& sink, const store::OpenedEntry& entry, const Look& look);
/// The tree of pickled values, which every entry has.
void write_pickle(OutputSink& sink, const store::OpenedEntry& entry, Strings strings);
/// Kernel calls with grid, block, warps and shared memory.
bool write_launches(OutputSink& sink, const store::OpenedEntry& entry, const Look& look);

/// The JSON text of one field; nothing when the entry doesn't have it.
std::optional<std::string> field_json(const store::OpenedEntry& entry, const JsonPath& path, Strings strings);

/// A compiled graph that an entry holds.
struct HeldGraph {
  std::string_view role;  ///< "" in an FX graph entry, "forward" and "backward" in a bundled one
  const torch::CompiledFxGraph* graph;
};
/// All of them, in that order.
std::vector<HeldGraph> held_graphs(const store::OpenedEntry& entry);

}  // namespace cachetool::report
