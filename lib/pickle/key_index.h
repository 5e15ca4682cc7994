#pragma once

#include <cstdint>

#include "pickle/arena.h"
#include "pickle/equality.h"
#include "pickle/value.h"

namespace cachetool::pickle {

// Dicts and sets keep their entries in an array in insertion order. Beyond kIndexFrom entries they also have
// an index: one array whose first word is a mask and whose other words are slots of an open-addressing table,
// 0 when empty, else the upper half of the key's hash and the position of the entry plus one.

inline constexpr std::uint32_t kIndexFrom = 8;

/// Calls `visit(position)` for each entry whose hash agrees in its upper half, until it returns true. Returns
/// the number of slots looked at.
template <class Visit>
std::uint64_t visit_candidates(const std::uint64_t* index, std::uint64_t hash, Visit visit) {
  const std::uint64_t mask = index[0];
  const std::uint64_t upper = hash >> 32;
  std::uint64_t steps = 1;
  for (std::uint64_t at = upper & mask; index[1 + at] != 0; at = (at + 1) & mask, ++steps) {
    const std::uint64_t slot = index[1 + at];
    if (slot >> 32 == upper && visit(static_cast<std::uint32_t>(slot) - 1)) break;
  }
  return steps;
}

/// What an insertion did, besides how it ended.
enum class Insertion : std::uint8_t { kAdded, kReplaced };

/// dict[key] = value: the first of equal keys stays, the last value wins.
KeyOutcome insert(Arena& arena, Keys& keys, DictNode& dict, const Value& key, const Value& value,
                  Insertion& insertion);

/// set.add(item).
KeyOutcome insert(Arena& arena, Keys& keys, SetNode& set, const Value& item, Insertion& insertion);

/// Room for `count` entries in all, where that is known beforehand.
[[nodiscard]] bool reserve(Arena& arena, DictNode& dict, std::uint64_t count);
[[nodiscard]] bool reserve(Arena& arena, SetNode& set, std::uint64_t count);

}  // namespace cachetool::pickle
