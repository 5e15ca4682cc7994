#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/references.h"

namespace cachetool::store {

/// Something that an entry refers to, directly or through something else.
struct EntryReference {
  std::string kind;       ///< as unit_kind_name has it
  std::string name;       ///< path below the root; of something missing what is known of its name
  std::size_t depth = 1;  ///< 1: by the entry itself
  bool found = true;
  std::uint64_t bytes = 0;
  std::uint32_t files = 0;
};

/// Lists what entries refer to, in the order of ReferenceIndex::children, parents before what they lead to.
/// The index must outlive it.
class ReferenceReader {
 public:
  explicit ReferenceReader(const ReferenceIndex& index);
  /// Each thing once, at the place where it was met first.
  std::vector<EntryReference> of(UnitId entry) const;
  /// Entries that refer to this one directly: "aotautograd a…".
  std::vector<std::string> users(UnitId entry) const;
  const ReferenceIndex& index() const { return index_; }

 private:
  const ReferenceIndex& index_;
  std::unordered_multimap<UnitId, const MissingReference*> missing_;
};

}  // namespace cachetool::store
