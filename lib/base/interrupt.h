#pragma once

#include <atomic>

#include "base/error.h"

namespace cachetool {

/// Set by a signal handler or another thread, polled between items of long work. The program that installs
/// the handler owns it and dies by `signal()` once the work has stopped.
class Interrupt {
 public:
  /// Safe in a signal handler. The first request stays.
  void request(int signal) noexcept {
    int none = 0;
    signal_.compare_exchange_strong(none, signal);
  }
  bool requested() const noexcept { return signal_.load(std::memory_order_relaxed) != 0; }
  /// Number of the signal, 0 when nothing was requested.
  int signal() const noexcept { return signal_.load(); }
  /// kInterrupted once requested.
  Status check() const {
    if (requested()) return fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }

 private:
  static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");
  std::atomic<int> signal_{0};
};

}  // namespace cachetool
