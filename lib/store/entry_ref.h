#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "store/artifact.h"
#include "torch/entry_summary.h"
#include "torch/key.h"

namespace cachetool::store {

/// One key of one store: a directory of candidates. Small and owns nothing, so 100,000 of them fit in 4 MB.
struct KeyRef {
  torch::HashName key;  ///< prefix 'f' or 'a'
  torch::EntryKind kind = torch::EntryKind::kFxGraph;
  std::uint16_t store = 0;  ///< index into CacheSet::stores

  friend bool operator==(const KeyRef&, const KeyRef&) = default;
  friend auto operator<=>(const KeyRef& a, const KeyRef& b) {
    if (auto order = a.store <=> b.store; order != 0) return order;
    if (auto order = a.kind <=> b.kind; order != 0) return order;
    return a.key <=> b.key;
  }
};
static_assert(sizeof(KeyRef) <= 40);

/// One entry: a candidate of a key.
struct EntryRef {
  KeyRef key;
  std::string leaf;          ///< file name as it is: a 51-character hash, "entry" (torch 2.6 AOTAutograd), or
                             ///< anything else found there
  DirHandle directory;       ///< the key's directory; for packed entries the one that holds the file
  std::uint64_t offset = 0;  ///< packed entries: where their bytes begin in the file
  std::uint64_t length = 0;  ///< packed entries: their number; 0 for an entry with a file of its own
};

/// What a key's directory holds.
struct KeyListing {
  std::vector<EntryRef> entries;         ///< bytewise by leaf
  std::vector<std::string> temporaries;  ///< unfinished writes beside them
  std::vector<Skipped> skipped;          ///< what is neither a file nor to be followed
  DirHandle directory;                   ///< the key's directory; null for packed entries
};

}  // namespace cachetool::store
