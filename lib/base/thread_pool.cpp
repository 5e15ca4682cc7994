#include "base/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/cpu_count.h"

namespace cachetool {

struct ThreadPool::Impl {
  explicit Impl(std::size_t limit) : queue_limit(limit) {}

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      work_ready.wait(lock, [&] { return closing || !queue.empty(); });
      if (queue.empty()) return;
      std::function<void()> task = std::move(queue.front());
      queue.pop_front();
      ++running;
      lock.unlock();
      room.notify_one();
      task();
      task = nullptr;  // what it captured goes before anybody learns that it is done
      lock.lock();
      --running;
      if (queue.empty() && running == 0) idle.notify_all();
    }
  }

  const std::size_t queue_limit;
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable room;
  std::condition_variable idle;
  std::deque<std::function<void()>> queue;
  std::size_t running = 0;
  bool closing = false;
  std::vector<std::thread> workers;
};

ThreadPool::ThreadPool(std::size_t threads, std::size_t queue_limit)
    : impl_(std::make_unique<Impl>(std::max<std::size_t>(1, queue_limit))) {
  const std::size_t count = threads == 0 ? cpu_count() : threads;
  impl_->workers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) impl_->workers.emplace_back([impl = impl_.get()] { impl->run(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
  }
  impl_->work_ready.notify_all();
  for (std::thread& worker : impl_->workers) worker.join();
}

void ThreadPool::submit(std::function<void()> task) {
  {
    std::unique_lock lock(impl_->mutex);
    impl_->room.wait(lock, [&] { return impl_->queue.size() < impl_->queue_limit; });
    impl_->queue.push_back(std::move(task));
  }
  impl_->work_ready.notify_one();
}

void ThreadPool::wait() {
  std::unique_lock lock(impl_->mutex);
  impl_->idle.wait(lock, [&] { return impl_->queue.empty() && impl_->running == 0; });
}

std::size_t ThreadPool::threads() const {
  return impl_->workers.size();
}

}  // namespace cachetool
