#pragma once

#include <cstdint>

#include "pickle/charged_vector.h"
#include "pickle/value.h"

namespace cachetool::pickle {

enum class KeyOutcome : std::uint8_t { kDone, kUnhashable, kNoMemory, kTooMuchWork };

/// Python's hashing and equality of dict keys and set items, as far as they are defined without running code:
/// numbers by value (1 == 1.0 == True), strings and bytes by content, tuples and frozensets by their items,
/// everything else that is hashable by identity. NaN equals nothing. Never recurses; the number of steps over
/// a whole pickle is bounded.
class Keys {
 public:
  Keys(Account& account, std::uint64_t work_limit)
      : work_left_(work_limit), frames_(account), pairs_(account) {}

  KeyOutcome hash(const Value& value, std::uint64_t& hash);
  KeyOutcome equal(const Value& a, const Value& b, bool& result);

  /// kUnhashable where Python's hash() would raise.
  KeyOutcome check_hashable(const Value& value) {
    switch (value.tag()) {
      case Tag::kList:
      case Tag::kDict:
      case Tag::kSet:
      case Tag::kByteArray:
      case Tag::kBuffer:
        return KeyOutcome::kUnhashable;
      case Tag::kTuple:
      case Tag::kFrozenSet: {
        std::uint64_t ignored = 0;
        return hash(value, ignored);
      }
      default:
        return KeyOutcome::kDone;
    }
  }

  /// Takes `steps` from what is left; false when that is used up.
  [[nodiscard]] bool work(std::uint64_t steps) {
    if (steps > work_left_) return false;
    work_left_ -= steps;
    return true;
  }

 private:
  struct Frame {
    Value node;
    std::uint64_t next;
  };
  struct Two {
    Value a;
    Value b;
  };
  enum class Shallow : std::uint8_t { kEqual, kDifferent, kDeep };

  std::uint64_t shallow_hash(const Value& value);
  KeyOutcome hash_deep(const Value& value);
  KeyOutcome push_frame(const Value& node);
  KeyOutcome finish_frame(const Value& node);
  static Shallow compare_shallow(const Value& a, const Value& b);
  KeyOutcome compare_sets(const SetNode& a, const SetNode& b, bool& possible);
  KeyOutcome find_twin(const Value& item, const SetNode& in, const Value*& twin);

  std::uint64_t work_left_;
  std::uint64_t nan_count_ = 0;
  ChargedVector<Frame> frames_;
  ChargedVector<Two> pairs_;
};

}  // namespace cachetool::pickle
