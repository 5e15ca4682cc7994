#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cachetool::store {

/// Read buffers that the workers of one run share. Each worker holds one while it reads, so what is kept is
/// bounded by the number of workers and not by how many items wait for delivery. Thread safe.
class BufferPool {
 public:
  /// A buffer of any size and content, for `put` to take back.
  std::string take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    std::string buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }

  void put(std::string buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> free_;
};

}  // namespace cachetool::store
