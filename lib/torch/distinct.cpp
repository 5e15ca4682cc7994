#include "torch/distinct.h"

#include <unordered_map>

#include "base/budget.h"
#include "pickle/account.h"
#include "pickle/equality.h"

namespace cachetool::torch {

using pickle::KeyOutcome;
using pickle::Pair;
using pickle::Value;

namespace {

/// Remembers keys by Python's equality.
class Seen {
 public:
  explicit Seen(std::size_t count)
      : budget_(kMemory), account_(budget_), keys_(account_, std::uint64_t{count} * 64 + 100'000) {}

  /// Position of the key equal to `key` that came first, or `position` when this one is the first; nothing
  /// when `key` can't be hashed or compared.
  std::optional<std::size_t> first(const Value& key, std::size_t position) {
    std::uint64_t hash = 0;
    if (keys_.check_hashable(key) != KeyOutcome::kDone || keys_.hash(key, hash) != KeyOutcome::kDone)
      return std::nullopt;
    const auto [begin, end] = positions_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      bool equal = false;
      if (!keys_.work(1) || keys_.equal(at->second.first, key, equal) != KeyOutcome::kDone)
        return std::nullopt;
      if (equal) return at->second.second;
    }
    positions_.emplace(hash, std::pair{key, position});
    return position;
  }

 private:
  static constexpr std::uint64_t kMemory = std::uint64_t{1} << 20;  // stacks for nested keys
  Budget budget_;
  pickle::Account account_;
  pickle::Keys keys_;
  std::unordered_multimap<std::uint64_t, std::pair<Value, std::size_t>> positions_;
};

}  // namespace

std::optional<std::vector<Value>> distinct(std::span<const Value> elements) {
  if (elements.size() < 2) return std::nullopt;
  Seen seen(elements.size());
  std::vector<Value> kept;
  for (const Value& element : elements) {
    const auto position = seen.first(element, kept.size());
    if (!position) return std::nullopt;
    if (*position == kept.size()) kept.push_back(element);
  }
  if (kept.size() == elements.size()) return std::nullopt;
  return kept;
}

std::vector<Pair> merge_pairs(std::span<const Pair> given, std::span<const Pair> added) {
  Seen seen(given.size() + added.size());
  std::vector<Pair> merged;
  for (const std::span<const Pair> part : {given, added}) {
    for (const Pair& pair : part) {
      const std::size_t position = seen.first(pair.key, merged.size()).value_or(merged.size());
      if (position == merged.size()) {
        merged.push_back(pair);
      } else {
        merged[position].value = pair.value;
      }
    }
  }
  return merged;
}

}  // namespace cachetool::torch
