#include "pickle/key_index.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace cachetool::pickle {
namespace {

const Value& key_of(const Pair& entry) {
  return entry.key;
}
const Value& key_of(const Value& entry) {
  return entry;
}

/// The same string or node: decided without looking at contents. NaN isn't equal to itself.
bool same_key(const Value& a, const Value& b) {
  return identical(a, b) && !a.is(Tag::kFloat);
}

template <class Node>
bool reserve_entries(Arena& arena, Node& node, std::uint64_t count) {
  using Entry = std::remove_reference_t<decltype(*node.data)>;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
  if (count <= node.capacity) return true;
  if (count > kMost) return false;
  // The first batch gets exactly its room: most containers have only one.
  std::uint64_t capacity =
      node.capacity == 0 ? count : std::max(count, node.capacity * std::uint64_t{3} / 2 + 2);
  capacity = std::min(capacity, kMost);
  void* grown = arena.grow(node.data, node.capacity * sizeof(Entry), capacity * sizeof(Entry));
  if (grown == nullptr && capacity > count) {  // less room may do, in proportion so that growing stays linear
    capacity = std::min(capacity, std::max(count, node.capacity + node.capacity / std::uint64_t{16}));
    grown = arena.grow(node.data, node.capacity * sizeof(Entry), capacity * sizeof(Entry));
  }
  if (grown == nullptr) return false;
  node.data = static_cast<Entry*>(grown);
  node.capacity = static_cast<std::uint32_t>(capacity);
  return true;
}

/// Steps taken in probing are counted: keys that collide on purpose must not make this quadratic.
bool place(Keys& keys, std::uint64_t* index, std::uint64_t hash_upper, std::uint32_t position) {
  const std::uint64_t mask = index[0];
  std::uint64_t at = hash_upper & mask;
  std::uint64_t steps = 0;
  for (; index[1 + at] != 0; at = (at + 1) & mask) ++steps;
  index[1 + at] = hash_upper << 32 | (position + 1);
  return keys.work(steps);
}

template <class Node>
KeyOutcome make_index(Arena& arena, Keys& keys, Node& node) {
  std::uint64_t slots = 32;
  while (slots < std::uint64_t{node.size} * 2) slots *= 2;
  const std::size_t bytes = (slots + 1) * sizeof(std::uint64_t);
  auto* index = static_cast<std::uint64_t*>(arena.grow(nullptr, 0, bytes));
  if (index == nullptr) return KeyOutcome::kNoMemory;
  std::memset(index, 0, bytes);
  index[0] = slots - 1;
  std::uint64_t* old = node.index;
  node.index = index;
  if (old != nullptr) {  // the stored halves of the hashes are enough
    const std::uint64_t old_slots = old[0] + 1;
    for (std::uint64_t at = 1; at <= old_slots; ++at) {
      if (old[at] == 0) continue;
      if (!place(keys, index, old[at] >> 32, static_cast<std::uint32_t>(old[at]) - 1))
        return KeyOutcome::kTooMuchWork;
    }
    arena.release(old, (old_slots + 1) * sizeof(std::uint64_t));
    return KeyOutcome::kDone;
  }
  for (std::uint32_t i = 0; i < node.size; ++i) {
    std::uint64_t hash = 0;
    const KeyOutcome outcome = keys.hash(key_of(node.data[i]), hash);
    if (outcome != KeyOutcome::kDone) return outcome;
    if (!place(keys, index, hash >> 32, i)) return KeyOutcome::kTooMuchWork;
  }
  return KeyOutcome::kDone;
}

/// Position of the entry whose key equals `key`, or `node.size`. Sets `hash` when there is an index.
template <class Node>
KeyOutcome locate(Keys& keys, const Node& node, const Value& key, std::uint64_t& hash,
                  std::uint32_t& position) {
  position = node.size;
  KeyOutcome outcome = keys.check_hashable(key);
  if (outcome != KeyOutcome::kDone) return outcome;
  bool found = false;
  if (node.index == nullptr) {
    for (std::uint32_t i = 0; i < node.size; ++i) {
      if (!same_key(key_of(node.data[i]), key)) continue;
      position = i;
      return KeyOutcome::kDone;
    }
    for (std::uint32_t i = 0; i < node.size; ++i) {
      const Value& other = key_of(node.data[i]);
      if (key.is(Tag::kString) && (!other.is(Tag::kString) || key.bytes().size() != other.bytes().size()))
        continue;
      outcome = keys.equal(other, key, found);
      if (outcome != KeyOutcome::kDone) return outcome;
      if (!found) continue;
      position = i;
      return KeyOutcome::kDone;
    }
    return KeyOutcome::kDone;
  }
  outcome = keys.hash(key, hash);
  if (outcome != KeyOutcome::kDone) return outcome;
  const std::uint64_t steps = visit_candidates(node.index, hash, [&](std::uint32_t candidate) {
    const Value& other = key_of(node.data[candidate]);
    found = same_key(other, key);
    if (!found) outcome = keys.equal(other, key, found);
    if (found) position = candidate;
    return found || outcome != KeyOutcome::kDone;
  });
  if (outcome == KeyOutcome::kDone && !keys.work(steps)) outcome = KeyOutcome::kTooMuchWork;
  return outcome;
}

template <class Node, class Entry>
KeyOutcome add_entry(Arena& arena, Keys& keys, Node& node, const Entry& entry, std::uint64_t hash) {
  if (!reserve_entries(arena, node, std::uint64_t{node.size} + 1)) return KeyOutcome::kNoMemory;
  node.data[node.size++] = entry;
  if (node.index == nullptr)
    return node.size > kIndexFrom ? make_index(arena, keys, node) : KeyOutcome::kDone;
  // At most two thirds full.
  if (std::uint64_t{node.size} * 3 > (node.index[0] + 1) * 2) {
    const KeyOutcome outcome = make_index(arena, keys, node);
    if (outcome != KeyOutcome::kDone) return outcome;
  }
  return place(keys, node.index, hash >> 32, node.size - 1) ? KeyOutcome::kDone : KeyOutcome::kTooMuchWork;
}

}  // namespace

KeyOutcome insert(Arena& arena, Keys& keys, DictNode& dict, const Value& key, const Value& value,
                  Insertion& insertion) {
  std::uint64_t hash = 0;
  std::uint32_t position = 0;
  const KeyOutcome outcome = locate(keys, dict, key, hash, position);
  if (outcome != KeyOutcome::kDone) return outcome;
  insertion = position < dict.size ? Insertion::kReplaced : Insertion::kAdded;
  if (insertion == Insertion::kAdded) return add_entry(arena, keys, dict, Pair{key, value}, hash);
  dict.data[position].value = value;
  return KeyOutcome::kDone;
}

KeyOutcome insert(Arena& arena, Keys& keys, SetNode& set, const Value& item, Insertion& insertion) {
  std::uint64_t hash = 0;
  std::uint32_t position = 0;
  const KeyOutcome outcome = locate(keys, set, item, hash, position);
  if (outcome != KeyOutcome::kDone) return outcome;
  insertion = position < set.size ? Insertion::kReplaced : Insertion::kAdded;
  return insertion == Insertion::kAdded ? add_entry(arena, keys, set, item, hash) : KeyOutcome::kDone;
}

bool reserve(Arena& arena, DictNode& dict, std::uint64_t count) {
  return reserve_entries(arena, dict, count);
}

bool reserve(Arena& arena, SetNode& set, std::uint64_t count) {
  return reserve_entries(arena, set, count);
}

}  // namespace cachetool::pickle
