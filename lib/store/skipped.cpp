#include "store/skipped.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace cachetool::store {

void add_skipped(std::vector<Skipped>& to, std::vector<Skipped> from) {
  std::set<std::pair<std::uint32_t, std::string>> known;
  for (const Skipped& place : to) known.emplace(place.root, place.path);
  for (Skipped& place : from) {
    if (known.emplace(place.root, place.path).second) to.push_back(std::move(place));
  }
}

std::vector<Skipped> skipped_besides_entries(const ReferenceIndex& references) {
  std::vector<Skipped> others;
  const std::vector<Skipped>& all = references.skipped();
  std::copy_if(all.begin(), all.end(), std::back_inserter(others), [&](const Skipped& place) {
    const auto found = references.find(place.root, place.path);
    if (!found) return true;
    const Unit::Kind kind = references.unit(*found).kind;
    return kind != Unit::Kind::kFxGraph && kind != Unit::Kind::kAotAutograd;
  });
  return others;
}

}  // namespace cachetool::store
