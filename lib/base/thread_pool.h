#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace cachetool {

/// A fixed number of worker threads with a bounded queue: `submit` blocks while the queue is full, so a
/// producer can't run ahead of the workers. Destruction waits for everything submitted.
class ThreadPool {
 public:
  /// `threads` 0 means one per processor that this process may use.
  explicit ThreadPool(std::size_t threads = 0, std::size_t queue_limit = 256);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Tasks may not throw, and may neither submit to nor wait for their own pool (it could be full of them).
  void submit(std::function<void()> task);
  /// Blocks until every submitted task has run.
  void wait();
  std::size_t threads() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs `work(i)` for i in [0, count) on the pool and then `deliver(i)` for the same i in order, on the
/// calling thread. At most `window` items are between work and delivery, so memory stays bounded however many
/// there are. `deliver` returns false to stop early: work that hasn't begun by then is skipped. Returns when
/// no worker is busy with it any more. Should `work` throw (memory), the rest is skipped and the exception
/// comes out here. Not from a task of the same pool.
void ordered_parallel(ThreadPool& pool, std::size_t count, std::size_t window,
                      const std::function<void(std::size_t)>& work,
                      const std::function<bool(std::size_t)>& deliver);

}  // namespace cachetool
