#include "store/entry_references.h"

#include <unordered_set>
#include <utility>

namespace cachetool::store {

ReferenceReader::ReferenceReader(const ReferenceIndex& index) : index_(index) {
  for (const MissingReference& missing : index.missing()) missing_.emplace(missing.from, &missing);
}

std::vector<EntryReference> ReferenceReader::of(UnitId entry) const {
  std::vector<EntryReference> references;
  std::unordered_set<UnitId> met;
  std::vector<std::pair<UnitId, std::size_t>> open{{entry, 0}};
  while (!open.empty()) {
    const auto [id, depth] = open.back();
    open.pop_back();
    if (!met.insert(id).second) continue;
    if (depth > 0) {
      const Unit& unit = index_.units()[id];
      references.push_back(
          {std::string(unit_kind_name(unit.kind)), unit.path, depth, true, unit.bytes, unit.files});
    }
    const auto [first, last] = missing_.equal_range(id);
    for (auto at = first; at != last; ++at) {
      const MissingReference& missing = *at->second;
      references.push_back({std::string(unit_kind_name(missing.kind)), missing.name, depth + 1, false, 0, 0});
    }
    const auto children = index_.children(id);
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      open.emplace_back(*child, depth + 1);
  }
  return references;
}

std::vector<std::string> ReferenceReader::users(UnitId entry) const {
  std::vector<std::string> users;
  for (const UnitId parent : index_.parents(entry)) users.push_back(index_.units()[parent].path);
  return users;
}

}  // namespace cachetool::store
