#include "pickle/equality.h"

#include "pickle/key_hash.h"
#include "pickle/key_index.h"
#include "pickle/numbers.h"

namespace cachetool::pickle {
namespace {

/// Where a tuple or frozenset remembers its hash. Nodes belong to a Document under construction, so this may
/// write.
struct HashSlot {
  Hashing& hashing;
  std::uint64_t& hash;
};

HashSlot slot_of(const Value& value) {
  if (value.is(Tag::kTuple)) {
    auto& node = const_cast<TupleNode&>(value.tuple());
    return {node.hashing, node.hash};
  }
  auto& node = const_cast<SetNode&>(value.set());
  return {node.hashing, node.hash};
}

bool is_nested(const Value& value) {
  return value.is(Tag::kTuple) || value.is(Tag::kFrozenSet);
}

bool is_unhashable(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kDict:
    case Tag::kSet:
    case Tag::kByteArray:
    case Tag::kBuffer:
      return true;
    default:
      return false;
  }
}

/// Steps that reading `value` once takes.
std::uint64_t cost(const Value& value) {
  const Tag tag = value.tag();
  return tag == Tag::kString || tag == Tag::kBytes || tag == Tag::kBigInt ? 1 + value.bytes().size() / 64 : 1;
}

}  // namespace

std::uint64_t Keys::shallow_hash(const Value& value) {
  switch (value.tag()) {
    case Tag::kString:
    case Tag::kBytes:
      return hash_text(value.tag(), value.bytes());
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kBigInt:
    case Tag::kFloat:
      return hash_number(value, fold(++nan_count_, 0x3e9));
    case Tag::kNone:
      return 0x5bd1e995;
    case Tag::kTuple:
    case Tag::kFrozenSet:
      return slot_of(value).hash;
    default:
      return hash_identity(value);
  }
}

KeyOutcome Keys::hash(const Value& value, std::uint64_t& hash) {
  if (!work(cost(value))) return KeyOutcome::kTooMuchWork;
  if (is_unhashable(value)) return KeyOutcome::kUnhashable;
  if (is_nested(value)) {
    const HashSlot slot = slot_of(value);
    if (slot.hashing == Hashing::kUnknown) {
      const KeyOutcome outcome = hash_deep(value);
      if (outcome != KeyOutcome::kDone) return outcome;
    }
    if (slot.hashing == Hashing::kUnhashable) return KeyOutcome::kUnhashable;
  }
  hash = shallow_hash(value);
  return KeyOutcome::kDone;
}

KeyOutcome Keys::hash_deep(const Value& value) {
  frames_.truncate(0);
  KeyOutcome outcome = push_frame(value);
  while (outcome == KeyOutcome::kDone && !frames_.empty()) {
    Frame& frame = frames_.back();
    const std::span<const Value> items = items_of(frame.node);
    bool descended = false;
    while (frame.next < items.size()) {
      const Value& item = items[frame.next];
      if (is_unhashable(item) || (is_nested(item) && slot_of(item).hashing == Hashing::kUnhashable)) {
        // Everything that is open holds this item.
        for (const Frame& open : frames_) slot_of(open.node).hashing = Hashing::kUnhashable;
        return KeyOutcome::kUnhashable;
      }
      ++frame.next;
      if (is_nested(item) && slot_of(item).hashing == Hashing::kUnknown) {
        outcome = push_frame(item);
        descended = true;
        break;
      }
    }
    if (descended) continue;
    const Value done = frame.node;
    frames_.pop();
    outcome = finish_frame(done);
  }
  return outcome;
}

KeyOutcome Keys::push_frame(const Value& node) {
  return frames_.push(Frame{node, 0}) ? KeyOutcome::kDone : KeyOutcome::kNoMemory;
}

/// Combines the hashes of the items, which are all known by now.
KeyOutcome Keys::finish_frame(const Value& node) {
  const std::span<const Value> items = items_of(node);
  const bool ordered = node.is(Tag::kTuple);
  std::uint64_t combined = fold(items.size(), ordered ? 0x71 : 0xf5);
  for (const Value& item : items) {
    if (!work(cost(item))) return KeyOutcome::kTooMuchWork;
    const std::uint64_t hash = shallow_hash(item);
    combined = ordered ? fold(combined, hash) : combined + fold(hash, 0x9d);
  }
  const HashSlot slot = slot_of(node);
  slot.hashing = Hashing::kKnown;
  slot.hash = combined;
  return KeyOutcome::kDone;
}

Keys::Shallow Keys::compare_shallow(const Value& a, const Value& b) {
  const auto decided = [](bool same) { return same ? Shallow::kEqual : Shallow::kDifferent; };
  if (is_number(a.tag())) return decided(is_number(b.tag()) && numbers_equal(a, b));
  if (a.tag() != b.tag()) return Shallow::kDifferent;
  if (identical(a, b)) return Shallow::kEqual;
  switch (a.tag()) {
    case Tag::kString:
    case Tag::kBytes:
      return decided(a.bytes() == b.bytes());
    case Tag::kTuple:
    case Tag::kFrozenSet: {
      if (items_of(a).size() != items_of(b).size()) return Shallow::kDifferent;
      const HashSlot first = slot_of(a);
      const HashSlot second = slot_of(b);
      const bool known = first.hashing == Hashing::kKnown && second.hashing == Hashing::kKnown;
      return known && first.hash != second.hash ? Shallow::kDifferent : Shallow::kDeep;
    }
    default:
      return Shallow::kDifferent;
  }
}

KeyOutcome Keys::equal(const Value& a, const Value& b, bool& result) {
  if (!work(cost(a))) return KeyOutcome::kTooMuchWork;
  const Shallow first_look = compare_shallow(a, b);
  result = first_look == Shallow::kEqual;
  if (first_look != Shallow::kDeep) return KeyOutcome::kDone;
  pairs_.truncate(0);
  if (!pairs_.push(Two{a, b})) return KeyOutcome::kNoMemory;
  while (!pairs_.empty()) {
    const Two two = pairs_.back();
    pairs_.pop();
    if (!work(cost(two.a))) return KeyOutcome::kTooMuchWork;
    const Shallow shallow = compare_shallow(two.a, two.b);
    if (shallow == Shallow::kDifferent) return KeyOutcome::kDone;
    if (shallow == Shallow::kEqual) continue;
    if (two.a.is(Tag::kTuple)) {
      const std::span<const Value> first = two.a.tuple().items();
      const std::span<const Value> second = two.b.tuple().items();
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (!pairs_.push(Two{first[i], second[i]})) return KeyOutcome::kNoMemory;
      }
      continue;
    }
    bool possible = false;
    const KeyOutcome outcome = compare_sets(two.a.set(), two.b.set(), possible);
    if (outcome != KeyOutcome::kDone) return outcome;
    if (!possible) return KeyOutcome::kDone;
  }
  result = true;
  return KeyOutcome::kDone;
}

/// Pairs each item of `a` with the only item of `b` that can equal it and leaves the pair to be compared.
KeyOutcome Keys::compare_sets(const SetNode& a, const SetNode& b, bool& possible) {
  possible = false;
  for (const Value& item : a.items()) {
    const Value* twin = nullptr;
    const KeyOutcome outcome = find_twin(item, b, twin);
    if (outcome != KeyOutcome::kDone) return outcome;
    if (twin == nullptr) return KeyOutcome::kDone;
    if (!pairs_.push(Two{item, *twin})) return KeyOutcome::kNoMemory;
  }
  possible = true;
  return KeyOutcome::kDone;
}

/// Two items of one set are unequal, so a second one with the same 64-bit hash means that somebody made it
/// so.
KeyOutcome Keys::find_twin(const Value& item, const SetNode& in, const Value*& twin) {
  const std::uint64_t wanted = shallow_hash(item);
  KeyOutcome outcome = KeyOutcome::kDone;
  const auto consider = [&](std::uint32_t position) {
    const Value& candidate = in.data[position];
    if (!work(cost(candidate))) outcome = KeyOutcome::kTooMuchWork;
    if (shallow_hash(candidate) != wanted) return false;
    if (twin != nullptr) outcome = KeyOutcome::kTooMuchWork;
    twin = &candidate;
    return outcome != KeyOutcome::kDone;
  };
  if (in.index != nullptr) {
    const std::uint64_t steps = visit_candidates(in.index, wanted, consider);
    if (!work(steps)) return KeyOutcome::kTooMuchWork;
  } else {
    for (std::uint32_t i = 0; i < in.size && !consider(i); ++i) {
    }
  }
  return outcome;
}

}  // namespace cachetool::pickle
