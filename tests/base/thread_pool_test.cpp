#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/system.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

void sleep_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

/// Returns the numbers of the threads that made the calls of a loop, in ascending order. Each call waits until
/// `expected` threads have made one, up to a minute: the threads of a busy machine start late.
std::vector<size_t> threads_of_loop(ThreadPool& pool, size_t count, size_t expected) {
  std::mutex mutex;
  std::condition_variable all_made_one;
  std::set<size_t> threads;
  pool.for_each(count, [&](size_t, size_t thread) {
    std::unique_lock lock(mutex);
    threads.insert(thread);
    all_made_one.notify_all();
    all_made_one.wait_for(lock, std::chrono::minutes(1), [&] { return threads.size() >= expected; });
    lock.unlock();
    sleep_a_while();  // for more threads than expected
  });
  return {threads.begin(), threads.end()};
}

}  // namespace

TEST_CASE("a pool makes every call of many loops once, and two calls of one thread follow each other") {
  IdleCores cores(2);
  ThreadPool pool(3, cores);
  std::vector<std::atomic<int>> calls(50), at_once(3);
  std::atomic<bool> overlapped = false;  // Catch2 counts checks without a lock
  for (int loop = 0; loop < 300; ++loop) {
    pool.for_each(calls.size(), [&](size_t index, size_t thread) {
      if (++at_once.at(thread) != 1) overlapped = true;
      ++calls[index];
      --at_once[thread];
    });
  }
  CHECK_FALSE(overlapped);
  CHECK(std::ranges::all_of(calls, [](int count) { return count == 300; }));
}

TEST_CASE("a loop has as many threads as there are calls, idle cores and threads of the pool") {
  IdleCores cores(2);
  ThreadPool pool(5, cores), small(2, cores);
  CHECK(threads_of_loop(pool, 20, 3) == std::vector<size_t>{0, 1, 2});
  CHECK(threads_of_loop(pool, 2, 2) == std::vector<size_t>{0, 1});
  CHECK(threads_of_loop(small, 20, 2) == std::vector<size_t>{0, 1});
  CHECK_FALSE(ThreadPool(5, cores).was_parallel());
  CHECK(pool.was_parallel());
  REQUIRE(cores.take(1) == 1);
  CHECK(threads_of_loop(pool, 20, 2) == std::vector<size_t>{0, 1});
  cores.add(1);
  CHECK(threads_of_loop(pool, 20, 3) == std::vector<size_t>{0, 1, 2});
  cores.close();
  CHECK(threads_of_loop(pool, 20, 1) == std::vector<size_t>{0});
}

TEST_CASE("idle cores lend no more than there are") {
  IdleCores cores(-1);
  CHECK(cores.take(4) == 0);
  cores.add(3);
  CHECK(cores.take(4) == 2);
  CHECK(cores.take(4) == 0);
}

TEST_CASE("of several exceptions in a loop that of the smallest index is thrown, and the pool can be used again") {
  IdleCores cores(3);
  ThreadPool pool(4, cores);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::atomic<int> calls = 0;
    const auto fail = [&](size_t index, size_t) {
      ++calls;
      if (index == 3) sleep_a_while();  // later ones fail first
      if (index >= 3) throw std::runtime_error(std::to_string(index));
    };
    CHECK_THROWS_WITH(pool.for_each(1000, fail), "3");
    CHECK(calls < 1000);
    CHECK(threads_of_loop(pool, 4, 4).size() == 4);
  }
}

TEST_CASE("a pool counts the CPU seconds of its threads, without those in which they wait") {
  IdleCores cores(1);
  ThreadPool pool(2, cores);
  CHECK(pool.helper_cpu_seconds() == 0);
  std::atomic<double> spent = 0;
  pool.for_each(2, [&](size_t, size_t thread) {
    const double start = thread_cpu_seconds();
    while (thread_cpu_seconds() - start < 0.05) {
    }
    if (thread == 1) spent = spent + thread_cpu_seconds() - start;
  });
  const double seconds = pool.helper_cpu_seconds();
  CHECK(seconds >= spent);
  CHECK(seconds < spent + 0.04);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(pool.helper_cpu_seconds() == seconds);
}

TEST_CASE("the calling thread alone makes the calls in ascending order") {
  std::vector<size_t> calls;
  calling_thread().for_each(4, [&](size_t index, size_t thread) {
    CHECK(thread == 0);
    calls.push_back(index);
  });
  CHECK(calls == std::vector<size_t>{0, 1, 2, 3});
}
