#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "base/thread_pool.h"

namespace cachetool {
namespace {

/// The batches between work and delivery, as a ring of slots. Lives on the caller's stack, so nothing
/// may return before every task that was handed out has let go of it.
class Window {
 public:
  explicit Window(std::size_t size) : ready_(size, false) {}
  ~Window() { wait_for_tasks(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void handed_out() {
    const std::lock_guard lock(mutex_);
    ++outstanding_;
  }
  void not_handed_out() {
    const std::lock_guard lock(mutex_);
    --outstanding_;
  }

  /// The task for batch `index`, on a worker. Skips the work once it is pointless.
  void run(std::size_t index, const std::function<void(std::size_t)>& work) {
    std::exception_ptr error;
    if (!stopped()) {
      try {
        work(index);
      } catch (...) {
        error = std::current_exception();
      }
    }
    const std::lock_guard lock(mutex_);
    if (error && !error_) error_ = std::move(error);
    if (error_) stopped_ = true;
    ready_[index % ready_.size()] = true;
    --outstanding_;
    changed_.notify_all();
  }

  /// Waits for batch `index` and frees its slot; rethrows what any item's work threw.
  void take(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || ready_[index % ready_.size()]; });
    if (error_) std::rethrow_exception(error_);
    ready_[index % ready_.size()] = false;
  }

  std::size_t size() const { return ready_.size(); }

 private:
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void wait_for_tasks() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.wait(lock, [&] { return outstanding_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ready_;
  std::size_t outstanding_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

void ordered_parallel(ThreadPool& pool, std::size_t count, std::size_t window,
                      const std::function<void(std::size_t)>& work,
                      const std::function<bool(std::size_t)>& deliver) {
  if (count == 0) return;
  // Neighbours go out together where the window is wide, so that waking a thread costs once for all of them.
  const std::size_t batch = std::clamp<std::size_t>(window / 16, 1, 16);
  const std::size_t batches = (count + batch - 1) / batch;
  const auto end_of = [&](std::size_t index) { return std::min(count, (index + 1) * batch); };
  const std::function<void(std::size_t)> work_batch = [&](std::size_t index) {
    for (std::size_t i = index * batch; i < end_of(index); ++i) work(i);
  };
  Window items(std::clamp<std::size_t>(window / batch, 1, batches));
  std::size_t submitted = 0;
  for (std::size_t taken = 0; taken < batches; ++taken) {
    for (; submitted < batches && submitted - taken < items.size(); ++submitted) {
      items.handed_out();
      try {
        pool.submit([&items, &work_batch, index = submitted] { items.run(index, work_batch); });
      } catch (...) {
        items.not_handed_out();
        throw;
      }
    }
    items.take(taken);
    for (std::size_t i = taken * batch; i < end_of(taken); ++i) {
      if (!deliver(i)) return;
    }
  }
}

}  // namespace cachetool
