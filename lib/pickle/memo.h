#pragma once

#include <cstdint>

#include "pickle/charged_vector.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// The memo of the machine. Indices that follow on each other live in an array; an index far beyond it goes
/// into a hash table, so that one PUT can't demand gigabytes as it does in CPython.
class Memo {
 public:
  explicit Memo(Account& account) : near_(account), far_(account) {}

  /// The value at `index`, or null.
  const Value* get(std::uint64_t index) const {
    if (index < near_.size() && !near_[index].is(kAbsent)) [[likely]]
      return &near_[index];
    return far_count_ == 0 ? nullptr : get_far(index);
  }

  enum class Put : std::uint8_t { kDone, kSparse, kNoMemory };
  Put put(std::uint64_t index, const Value& value) {
    if (index == near_.size() && far_count_ == 0) [[likely]] {
      ++count_;
      return near_.push(value) ? Put::kDone : Put::kNoMemory;
    }
    return put_slowly(index, value);
  }

  /// Number of values held: the index that MEMOIZE uses.
  std::uint64_t count() const { return count_; }

 private:
  struct Far {
    std::uint64_t index;
    Value value;
  };
  static constexpr Tag kAbsent = static_cast<Tag>(0xff);
  static constexpr std::uint64_t kGap = 1024;

  static Value absent() { return Value::node(kAbsent, nullptr); }
  static std::uint64_t mix(std::uint64_t index);
  const Value* get_far(std::uint64_t index) const;
  Put put_slowly(std::uint64_t index, const Value& value);
  Put put_far(std::uint64_t index, const Value& value);

  ChargedVector<Value> near_;
  ChargedVector<Far> far_;  // open addressing, a power of two in size
  std::uint64_t far_count_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace cachetool::pickle
