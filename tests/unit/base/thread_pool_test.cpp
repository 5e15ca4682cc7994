#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/cpu_count.h"
#include "base/interrupt.h"
#include "base/progress.h"

using namespace cachetool;

namespace {

void dawdle(std::size_t index) {
  std::this_thread::sleep_for(std::chrono::microseconds((index * 7919) % 300));
}

}  // namespace

TEST_SUITE("base/thread_pool") {
  TEST_CASE("every submitted task runs once, and wait returns after the last") {
    ThreadPool pool(4, 3);
    CHECK(pool.threads() == 4);
    std::vector<std::atomic<int>> runs(500);
    for (auto& run : runs) pool.submit([&run] { ++run; });
    pool.wait();
    for (const auto& run : runs) CHECK(run == 1);
  }

  TEST_CASE("destruction runs what is still queued") {
    std::atomic<int> runs = 0;
    {
      ThreadPool pool(1, 100);
      for (int i = 0; i < 50; ++i) pool.submit([&runs] { ++runs; });
    }
    CHECK(runs == 50);
  }

  TEST_CASE("wait on an idle pool returns") {
    ThreadPool pool(2);
    pool.wait();
    pool.submit([] {});
    pool.wait();
    pool.wait();
  }

  TEST_CASE("submit blocks while the queue is full") {
    ThreadPool pool(1, 2);
    std::mutex gate;
    std::unique_lock closed(gate);
    std::atomic<int> submitted = 0;
    std::thread producer([&] {
      for (int i = 0; i < 10; ++i) {
        pool.submit([&gate] { const std::lock_guard pass(gate); });
        ++submitted;
      }
    });
    // One task runs (and waits), two are queued: the fourth submission has to wait.
    while (submitted < 3) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(submitted == 3);
    closed.unlock();
    producer.join();
    pool.wait();
    CHECK(submitted == 10);
  }

  TEST_CASE("a task's captures are gone when wait returns") {
    ThreadPool pool(2);
    auto shared = std::make_shared<int>(7);
    pool.submit([shared] { CHECK(*shared == 7); });
    pool.wait();
    CHECK(shared.use_count() == 1);
  }

  TEST_CASE("no thread count means one per usable processor") {
    CHECK(cpu_count() >= 1);
    CHECK(ThreadPool().threads() == cpu_count());
  }
}

TEST_SUITE("base/ordered_parallel") {
  TEST_CASE("delivers in order, on the calling thread, each after its work") {
    ThreadPool pool(4);
    const auto caller = std::this_thread::get_id();
    std::vector<std::size_t> results(300);
    std::vector<std::size_t> delivered;
    ordered_parallel(
        pool, results.size(), 16,
        [&](std::size_t i) {
          dawdle(i);
          results[i] = i * i;
        },
        [&](std::size_t i) {
          CHECK(std::this_thread::get_id() == caller);
          CHECK(results[i] == i * i);
          delivered.push_back(i);
          return true;
        });
    std::vector<std::size_t> expected(results.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    CHECK(delivered == expected);
  }

  TEST_CASE("wide windows hand out batches: still in order, each item once, a last batch that is not full") {
    for (const std::size_t window : {std::size_t{40}, std::size_t{250}, std::size_t{1000}}) {
      ThreadPool pool(4);
      std::vector<std::atomic<int>> worked(303);
      std::vector<std::size_t> delivered;
      ordered_parallel(
          pool, worked.size(), window, [&](std::size_t i) { ++worked[i]; },
          [&](std::size_t i) {
            CHECK(worked[i] == 1);
            delivered.push_back(i);
            return true;
          });
      std::vector<std::size_t> expected(worked.size());
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      CHECK(delivered == expected);
    }
  }

  TEST_CASE("no more than `window` items are under way") {
    for (const std::size_t window :
         {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{40}, std::size_t{70}}) {
      ThreadPool pool(4);
      std::atomic<std::size_t> begun = 0;
      std::atomic<std::size_t> most = 0;
      std::size_t delivered = 0;
      ordered_parallel(
          pool, 100, window, [&](std::size_t) { ++begun; },
          [&](std::size_t) {
            most = std::max<std::size_t>(most, begun - delivered);
            ++delivered;
            return true;
          });
      CHECK(delivered == 100);
      CHECK(most <= std::max<std::size_t>(1, window));
    }
  }

  TEST_CASE("stops early, and nothing runs afterwards") {
    ThreadPool pool(4);
    std::atomic<std::size_t> worked = 0;
    std::size_t delivered = 0;
    ordered_parallel(
        pool, 10000, 8,
        [&](std::size_t i) {
          dawdle(i);
          ++worked;
        },
        [&](std::size_t i) {
          ++delivered;
          return i < 20;
        });
    const std::size_t worked_at_return = worked;
    CHECK(delivered == 21);
    CHECK(worked_at_return <= 21 + 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(worked == worked_at_return);
  }

  TEST_CASE("nothing to do") {
    ThreadPool pool(1);
    ordered_parallel(pool, 0, 4, [](std::size_t) { FAIL("no work"); }, [](std::size_t) { return true; });
  }

  TEST_CASE("an exception of the work comes out on the calling thread, with no task left") {
    ThreadPool pool(3);
    std::atomic<int> inside = 0;
    const auto work = [&](std::size_t i) {
      ++inside;
      dawdle(i);
      --inside;
      if (i == 30) throw std::runtime_error("item 30");
    };
    CHECK_THROWS_WITH_AS(ordered_parallel(pool, 1000, 10, work, [](std::size_t) { return true; }), "item 30",
                         std::runtime_error);
    CHECK(inside == 0);
  }

  TEST_CASE("an exception of the delivery waits for the workers") {
    ThreadPool pool(3);
    std::atomic<int> inside = 0;
    const auto work = [&](std::size_t i) {
      ++inside;
      dawdle(i);
      --inside;
    };
    const auto deliver = [](std::size_t i) -> bool {
      if (i == 5) throw std::runtime_error("delivery");
      return true;
    };
    CHECK_THROWS_AS(ordered_parallel(pool, 1000, 10, work, deliver), std::runtime_error);
    CHECK(inside == 0);
  }

  TEST_CASE("two callers share a pool") {
    ThreadPool pool(2, 4);
    const auto sum_on_pool = [&pool] {
      std::size_t sum = 0;
      ordered_parallel(
          pool, 200, 7, [](std::size_t) {},
          [&sum](std::size_t i) {
            sum += i;
            return true;
          });
      return sum;
    };
    std::size_t other = 0;
    std::thread second([&] { other = sum_on_pool(); });
    CHECK(sum_on_pool() == 199 * 200 / 2);
    second.join();
    CHECK(other == 199 * 200 / 2);
  }
}

TEST_SUITE("base/progress") {
  TEST_CASE("workers add up") {
    Progress progress;
    ThreadPool pool(4);
    for (int i = 0; i < 100; ++i) {
      pool.submit([&progress] {
        progress.expect(1);
        progress.advance(1, 10);
      });
    }
    pool.wait();
    const Progress::Snapshot snapshot = progress.snapshot();
    CHECK(snapshot.items_done == 100);
    CHECK(snapshot.items_total == 100);
    CHECK(snapshot.bytes_done == 1000);
  }
}

TEST_SUITE("base/interrupt") {
  TEST_CASE("the first request stays and turns check into an error") {
    Interrupt interrupt;
    CHECK_FALSE(interrupt.requested());
    CHECK(interrupt.signal() == 0);
    CHECK(interrupt.check().has_value());
    std::thread other([&] { interrupt.request(2); });
    other.join();
    interrupt.request(15);
    CHECK(interrupt.requested());
    CHECK(interrupt.signal() == 2);
    CHECK(interrupt.check().error().code == ErrorCode::kInterrupted);
  }
}
