#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "change/plan.h"

namespace cachetool::change {

/// What a run is about to move, as its journal says. What became of it, the names in `.cachetool/trash/<run>`
/// tell.
struct JournalUnit {
  std::string label;
  std::string reason;
  Action action = Action::kQuarantine;
  std::vector<std::string> paths;  ///< each passes parse_path

  static constexpr std::size_t kLeastBytes = 25;
};

struct Journal {
  std::string run;  ///< "20261201T061502Z", also the name of its file and directories
  std::int64_t created_ns = 0;
  std::vector<JournalUnit> units;
};

/// The bytes of a journal, version 1:
///     8   "CTjrnl" and two zero bytes
///     4   version, 8 bytes of payload's length
///     32  SHA-256 of everything else
///         payload: cereal, little-endian: run, created_ns, units
std::string encode_journal(const Journal& journal);

/// Reads what may have come from anywhere: memory is bounded by the bytes given, and every path, action and
/// the name of the run is checked. kTruncated, kMalformed, kUnsupported for a later version.
Expected<Journal> decode_journal(std::string_view bytes);

/// Largest journal that is read or written.
constexpr std::uint64_t kLongestJournal = std::uint64_t{256} << 20;

/// Whether `text` is the name of a run: a time, and "-<n>" where it isn't the first of its second.
bool is_run_name(std::string_view text);

/// Reads the file `name` in `dir`, a journal or the record of a finished run.
Expected<Journal> read_journal(FileSystem& fs, const Directory& dir, const Name& name);

}  // namespace cachetool::change
