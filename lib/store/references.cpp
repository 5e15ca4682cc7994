#include "store/references.h"

#include <algorithm>
#include <utility>

#include "store/classify.h"
#include "store/reference_builder.h"
#include "store/unit_path.h"

namespace cachetool::store {
namespace {

constexpr UnitId kNobody = ~UnitId{0};
constexpr UnitId kSeveral = kNobody - 1;

bool is_entry_unit(const Unit& unit) {
  return unit.kind == Unit::Kind::kFxGraph || unit.kind == Unit::Kind::kAotAutograd;
}

/// Whether an entry is expected to name such a unit.
bool can_be_orphan(const Unit& unit) {
  switch (unit.kind) {
    case Unit::Kind::kWrapper:
    case Unit::Kind::kTritonModule:
    case Unit::Kind::kPythonModule:
    case Unit::Kind::kCppKernel:
    case Unit::Kind::kGpuBinary:
    case Unit::Kind::kTritonDirectory:
    case Unit::Kind::kBestConfig:
      return true;
    default:
      return false;
  }
}

UnitId join(UnitId a, UnitId b) {
  if (a == kNobody || a == b) return b;
  if (b == kNobody) return a;
  return kSeveral;
}

}  // namespace

std::string_view unit_kind_name(Unit::Kind kind) {
  switch (kind) {
    case Unit::Kind::kFxGraph:
      return "fxgraph";
    case Unit::Kind::kAotAutograd:
      return "aotautograd";
    case Unit::Kind::kWrapper:
      return "wrapper";
    case Unit::Kind::kTritonModule:
      return "triton-module";
    case Unit::Kind::kPythonModule:
      return "module";
    case Unit::Kind::kCppKernel:
      return "cpp-kernel";
    case Unit::Kind::kGpuBinary:
      return "gpu-binary";
    case Unit::Kind::kIsaProbe:
      return "isa-probe";
    case Unit::Kind::kTritonDirectory:
      return "triton-directory";
    case Unit::Kind::kTritonSupport:
      return "triton-support";
    case Unit::Kind::kBestConfig:
      return "best-config";
    case Unit::Kind::kAotiDirectory:
      return "aoti-directory";
  }
  return "unknown";
}

Expected<ReferenceIndex> ReferenceIndex::build(Source& source, ThreadPool& pool, const Options& options) {
  return ReferenceBuilder(source, pool, options).build();
}

std::optional<UnitId> ReferenceIndex::find(std::uint32_t root, std::string_view path) const {
  if (root >= roles_.size()) return std::nullopt;
  while (path.ends_with('/')) path.remove_suffix(1);
  auto found = by_path_.find(place_key(root, path));
  if (found != by_path_.end()) return found->second;
  const auto place = unit_place(classify(roles_[root], path), path);
  if (!place) return std::nullopt;
  found = by_path_.find(place_key(root, place->path));
  if (found == by_path_.end()) return std::nullopt;
  return found->second;
}

std::vector<UnitId> ReferenceIndex::find_name(std::string_view name) const {
  auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) found = by_name_.find(std::string(name.substr(0, name.find('.'))));
  return found == by_name_.end() ? std::vector<UnitId>{} : found->second;
}

std::span<const UnitId> ReferenceIndex::children(UnitId unit) const {
  return std::span(children_).subspan(child_begin_[unit], child_begin_[unit + 1] - child_begin_[unit]);
}

std::span<const UnitId> ReferenceIndex::parents(UnitId unit) const {
  return std::span(parents_).subspan(parent_begin_[unit], parent_begin_[unit + 1] - parent_begin_[unit]);
}

std::vector<UnitId> ReferenceIndex::owners(UnitId unit) const {
  // Names in entries are whatever somebody wrote there, so the links may even be cyclic.
  std::vector<bool> seen(units_.size(), false);
  std::vector<UnitId> pending{unit};
  std::vector<UnitId> found;
  seen[unit] = true;
  while (!pending.empty()) {
    const UnitId current = pending.back();
    pending.pop_back();
    for (const UnitId parent : parents(current)) {
      if (seen[parent]) continue;
      seen[parent] = true;
      pending.push_back(parent);
      if (is_entry_unit(units_[parent])) found.push_back(parent);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::uint64_t ReferenceIndex::held_bytes(UnitId entry) const {
  return held_[entry];
}

std::vector<UnitId> ReferenceIndex::orphans() const {
  std::vector<UnitId> found;
  for (UnitId id = 0; id < units_.size(); ++id) {
    // A plain Triton cache serves whoever calls Triton, so nothing in it is an orphan.
    const bool judged = can_be_orphan(units_[id]) && roles_[units_[id].root] != RootRole::kTriton;
    if (judged && !reached_[id]) found.push_back(id);
  }
  return found;
}

void ReferenceIndex::finish(std::vector<std::pair<UnitId, UnitId>> links) {
  // Each link once, where it was found first.
  std::vector<std::size_t> order(links.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(links[a], a) < std::pair(links[b], b); });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) { return links[a] == links[b]; }),
              order.end());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(links[a].first, a) < std::pair(links[b].first, b);
  });

  child_begin_.assign(units_.size() + 1, 0);
  parent_begin_.assign(units_.size() + 1, 0);
  for (const std::size_t i : order) {
    ++child_begin_[links[i].first + 1];
    ++parent_begin_[links[i].second + 1];
  }
  for (std::size_t i = 0; i < units_.size(); ++i) {
    child_begin_[i + 1] += child_begin_[i];
    parent_begin_[i + 1] += parent_begin_[i];
  }
  children_.reserve(order.size());
  parents_.resize(order.size());
  std::vector<std::uint32_t> next(parent_begin_.begin(), parent_begin_.end() - 1);
  for (const std::size_t i : order) {
    children_.push_back(links[i].second);
    parents_[next[links[i].second]++] = links[i].first;
  }
  mark_reached();
  compute_held();
}

void ReferenceIndex::mark_reached() {
  reached_.assign(units_.size(), false);
  std::vector<UnitId> pending;
  for (UnitId id = 0; id < units_.size(); ++id) {
    if (is_entry_unit(units_[id])) pending.push_back(id);
  }
  while (!pending.empty()) {
    const UnitId current = pending.back();
    pending.pop_back();
    for (const UnitId child : children(current)) {
      if (reached_[child]) continue;
      reached_[child] = true;
      pending.push_back(child);
    }
  }
}

void ReferenceIndex::compute_held() {
  // The one AOTAutograd entry that names a graph, if exactly one does; else the graph stands for itself, or
  // nobody.
  std::vector<UnitId> top(units_.size(), kNobody);
  for (UnitId id = 0; id < units_.size(); ++id) {
    if (!is_entry_unit(units_[id])) continue;
    for (const UnitId parent : parents(id)) top[id] = join(top[id], parent);
    if (top[id] == kNobody) top[id] = id;
  }
  // Which entry alone, and which chain of entries alone, each other unit hangs on. Both only ever go from
  // nobody to one to several, so every unit is looked at a bounded number of times even where the links are
  // cyclic.
  std::vector<UnitId> entry_of(units_.size(), kNobody);
  std::vector<UnitId> top_of(units_.size(), kNobody);
  std::vector<UnitId> pending;
  const auto offer = [&](UnitId child, UnitId entry, UnitId chain) {
    if (is_entry_unit(units_[child])) return;
    const UnitId new_entry = join(entry_of[child], entry);
    const UnitId new_chain = join(top_of[child], chain);
    if (new_entry == entry_of[child] && new_chain == top_of[child]) return;
    entry_of[child] = new_entry;
    top_of[child] = new_chain;
    pending.push_back(child);
  };
  for (UnitId id = 0; id < units_.size(); ++id) {
    if (!is_entry_unit(units_[id])) continue;
    for (const UnitId child : children(id)) offer(child, id, top[id]);
  }
  while (!pending.empty()) {
    const UnitId current = pending.back();
    pending.pop_back();
    for (const UnitId child : children(current)) offer(child, entry_of[current], top_of[current]);
  }

  held_.assign(units_.size(), 0);
  for (UnitId id = 0; id < units_.size(); ++id) {
    const Unit& unit = units_[id];
    if (is_entry_unit(unit)) {
      if (top[id] < kSeveral && top[id] != id) held_[top[id]] += unit.bytes;
      continue;
    }
    if (entry_of[id] < kSeveral) held_[entry_of[id]] += unit.bytes;
    if (top_of[id] < kSeveral && top_of[id] != entry_of[id]) held_[top_of[id]] += unit.bytes;
  }
}

}  // namespace cachetool::store
