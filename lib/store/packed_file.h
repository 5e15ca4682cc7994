#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/entry_ref.h"

namespace cachetool::store {

/// An entry inside a file that packs several.
struct PackedEntry {
  torch::HashName
      key;  ///< zero where the file doesn't name it (AOT form of a standalone artifact, a loose entry)
  torch::EntryKind kind = torch::EntryKind::kFxGraph;
  torch::HashName leaf;  ///< what torch would call the file when it unpacks: the hash of the bytes
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// The FX graph and AOTAutograd entries in a mega-cache file or a standalone artifact, in the order of the
/// file; for another kind of entry file the file itself. Other members (autotune results, profile states) are
/// left out. Checks the file's CRC. Errors: those of container::read_mega_cache and read_standalone.
Expected<std::vector<PackedEntry>> packed_entries(std::string_view bytes, ArtifactKind kind);

}  // namespace cachetool::store
