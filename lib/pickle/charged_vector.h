#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "pickle/account.h"

namespace cachetool::pickle {

/// A growable array of plain values whose capacity is charged to an Account and given back on destruction.
/// Growing fails instead of throwing.
template <class T>
class ChargedVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit ChargedVector(Account& account) : account_(account) {}
  ChargedVector(const ChargedVector&) = delete;
  ChargedVector& operator=(const ChargedVector&) = delete;
  ~ChargedVector() {
    std::free(data_);
    account_.release(capacity_ * sizeof(T));
  }

  /// False when the budget has run out.
  [[nodiscard]] bool push(const T& value) {
    if (size_ == capacity_ && !reserve(size_ + 1)) [[unlikely]]
      return false;
    data_[size_++] = value;
    return true;
  }

  /// Room for `count` elements in all.
  [[nodiscard]] bool reserve(std::uint64_t count) {
    if (count <= capacity_) return true;
    std::uint64_t wanted = capacity_ < kDoubleBelow ? capacity_ * 2 : capacity_ + capacity_ / 2;
    if (wanted < count) wanted = count;
    if (wanted < kFirst) wanted = kFirst;
    if (!account_.charge((wanted - capacity_) * sizeof(T))) {
      // Less spare room may still fit; still in proportion, so that growing stays linear.
      wanted = std::max(count, capacity_ + capacity_ / 16);
      if (!account_.charge((wanted - capacity_) * sizeof(T))) return false;
    }
    void* grown = std::realloc(data_, wanted * sizeof(T));
    if (grown == nullptr) {
      account_.release((wanted - capacity_) * sizeof(T));
      return false;
    }
    data_ = static_cast<T*>(grown);
    capacity_ = wanted;
    return true;
  }

  /// `count` elements in all, new ones equal to `fill`.
  [[nodiscard]] bool resize(std::uint64_t count, const T& fill) {
    if (!reserve(count)) return false;
    for (; size_ < count; ++size_) data_[size_] = fill;
    size_ = count;
    return true;
  }

  void truncate(std::uint64_t count) { size_ = count; }
  void pop() { --size_; }
  T& back() { return data_[size_ - 1]; }
  T& operator[](std::uint64_t at) { return data_[at]; }
  const T& operator[](std::uint64_t at) const { return data_[at]; }
  T* data() { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr std::uint64_t kFirst = 16;
  static constexpr std::uint64_t kDoubleBelow = 4096;

  Account& account_;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;
};

}  // namespace cachetool::pickle
