#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "store/read_limits.h"
#include "store/source.h"
#include "torch/decode.h"
#include "torch/release.h"

namespace cachetool::store {

/// One entry, read and decoded whole. Move-only.
struct OpenedEntry {
  std::string kind;  ///< "fxgraph", "aotautograd"; for a file that lies in no cache what its content is
  std::string key;   ///< in full; empty for a file that lies in no cache
  std::string leaf;
  std::string path;             ///< below the cache's root
  std::optional<KeyRef> place;  ///< where it lies in the cache; empty for a file that lies in none
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  Sha256Digest sha256{};
  torch::Decoded decoded;
  torch::Release release;
};

/// Reads and decodes an entry. Errors carry the entry's path.
Expected<OpenedEntry> open_entry(Source& source, const EntryRef& entry, const ReadLimits& limits);

/// The same for a file at `path` below a root, which need not be where torch puts entries (a copy, a file
/// from elsewhere).
Expected<OpenedEntry> open_entry_file(Source& source, std::uint32_t root, const std::string& path,
                                      const ReadLimits& limits);

}  // namespace cachetool::store
