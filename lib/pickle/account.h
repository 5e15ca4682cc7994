#pragma once

#include <cstdint>

#include "base/budget.h"

namespace cachetool::pickle {

/// The share of a Budget that decoding one pickle takes, with its own peak.
class Account {
 public:
  explicit Account(Budget& budget) : budget_(budget) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  [[nodiscard]] bool charge(std::uint64_t bytes) {
    if (!budget_.charge(bytes)) return false;
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
    return true;
  }
  void release(std::uint64_t bytes) {
    budget_.release(bytes);
    used_ -= bytes;
  }
  std::uint64_t peak() const { return peak_; }

 private:
  Budget& budget_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace cachetool::pickle
