#pragma once

#include <atomic>
#include <cstdint>

namespace cachetool {

/// How far a piece of work is. Workers bump it from any thread, a command reads it to draw; it prints
/// nothing. The figures are independent of each other: a snapshot may be a step apart between two of them.
class Progress {
 public:
  struct Snapshot {
    std::uint64_t items_done = 0;
    std::uint64_t items_total = 0;  ///< 0 while unknown; may grow during the work
    std::uint64_t bytes_done = 0;
  };

  void expect(std::uint64_t items) { items_total_.fetch_add(items, std::memory_order_relaxed); }
  void advance(std::uint64_t items, std::uint64_t bytes = 0) {
    items_done_.fetch_add(items, std::memory_order_relaxed);
    bytes_done_.fetch_add(bytes, std::memory_order_relaxed);
  }
  Snapshot snapshot() const {
    return {items_done_.load(std::memory_order_relaxed), items_total_.load(std::memory_order_relaxed),
            bytes_done_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> items_done_{0};
  std::atomic<std::uint64_t> items_total_{0};
  std::atomic<std::uint64_t> bytes_done_{0};
};

}  // namespace cachetool
