#include "pickle/memo.h"

namespace cachetool::pickle {

std::uint64_t Memo::mix(std::uint64_t index) {
  index ^= index >> 31;
  index *= 0x9e3779b97f4a7c15U;
  index ^= index >> 29;
  index *= 0xd6e8feb86659fd93U;
  return index ^ (index >> 32);
}

const Value* Memo::get_far(std::uint64_t index) const {
  const std::uint64_t mask = far_.size() - 1;
  for (std::uint64_t at = mix(index) & mask; !far_[at].value.is(kAbsent); at = (at + 1) & mask) {
    if (far_[at].index == index) return &far_[at].value;
  }
  return nullptr;
}

Memo::Put Memo::put_slowly(std::uint64_t index, const Value& value) {
  const bool is_far = far_count_ > 0 && get_far(index) != nullptr;
  if (!is_far && index <= 2 * near_.size() + kGap) {
    if (index >= near_.size() && !near_.resize(index + 1, absent())) return Put::kNoMemory;
    if (near_[index].is(kAbsent)) ++count_;
    near_[index] = value;
    return Put::kDone;
  }
  return put_far(index, value);
}

Memo::Put Memo::put_far(std::uint64_t index, const Value& value) {
  if ((far_count_ + 1) * 2 > far_.size()) {
    // Grow: move everything aside, then insert it again.
    const std::uint64_t old_size = far_.size();
    const std::uint64_t size = old_size == 0 ? 16 : old_size * 2;
    if (!far_.resize(old_size + size, Far{0, absent()})) return Put::kNoMemory;
    // The new table starts behind the old one; entries are re-inserted there, then it is moved to the front.
    Far* table = far_.data() + old_size;
    for (std::uint64_t i = 0; i < old_size; ++i) {
      if (far_[i].value.is(kAbsent)) continue;
      std::uint64_t at = mix(far_[i].index) & (size - 1);
      while (!table[at].value.is(kAbsent)) at = (at + 1) & (size - 1);
      table[at] = far_[i];
    }
    for (std::uint64_t i = 0; i < size; ++i) far_[i] = table[i];
    far_.truncate(size);
  }
  const std::uint64_t mask = far_.size() - 1;
  std::uint64_t at = mix(index) & mask;
  while (!far_[at].value.is(kAbsent)) {
    if (far_[at].index == index) {
      far_[at].value = value;
      return Put::kSparse;
    }
    at = (at + 1) & mask;
  }
  far_[at] = Far{index, value};
  ++far_count_;
  ++count_;
  return Put::kSparse;
}

}  // namespace cachetool::pickle
