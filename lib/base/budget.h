#pragma once

#include <cstdint>

namespace cachetool {

/// A cap on the memory that decoding one input may take: stack, memo, marks and arena of the pickle machine
/// and every nested payload draw on the same one. Charged for capacity, not for use. Not thread safe: one per
/// input.
class Budget {
 public:
  explicit Budget(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  /// The default for an input of `input_bytes`: 64 times it plus 4 MiB.
  static Budget for_input(std::uint64_t input_bytes) {
    return Budget(input_bytes * 64 + (std::uint64_t{4} << 20));
  }

  /// Takes `bytes` from the budget; false, and nothing taken, when less is left.
  [[nodiscard]] bool charge(std::uint64_t bytes) {
    if (bytes > limit_ - used_) return false;
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
    return true;
  }

  /// Gives back what was charged before.
  void release(std::uint64_t bytes) { used_ = bytes > used_ ? 0 : used_ - bytes; }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t peak() const { return peak_; }

 private:
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace cachetool
