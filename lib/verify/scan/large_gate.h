#pragma once

#include <cstdint>
#include <mutex>

namespace cachetool::verify {

/// Shared by scans that run at the same time: one of them at most holds, or unpacks to, a lot of bytes.
class LargeGate {
 public:
  /// What is a lot.
  static constexpr std::uint64_t kBytes = std::uint64_t{32} << 20;
  std::unique_lock<std::mutex> enter() { return std::unique_lock(mutex_); }

 private:
  std::mutex mutex_;
};

/// The way of one scan through the gate: passed once, when that is needed, and held to its end.
class LargePass {
 public:
  explicit LargePass(LargeGate* gate = nullptr) : gate_(gate) {}
  void take() {
    if (gate_ != nullptr && !lock_.owns_lock()) lock_ = gate_->enter();
  }

 private:
  LargeGate* gate_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace cachetool::verify
