#include "base/parallel_for.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace posbench;

TEST_CASE("every call is made once, by no more threads than there are calls") {
  std::mutex mutex;
  std::vector<int> calls(5);
  std::set<std::thread::id> threads;
  parallel_for(5, 64, [&](size_t i) {
    const std::lock_guard lock(mutex);
    ++calls[i];
    threads.insert(std::this_thread::get_id());
  });
  CHECK(calls == std::vector<int>(5, 1));
  CHECK(threads.size() <= 5);
}

TEST_CASE("texts that several threads make are written in their order") {
  std::string written, expected;
  for (size_t i = 0; i < 1500; ++i) expected += std::to_string(i) + ' ';
  write_in_order(
      1500, [](size_t i) { return std::to_string(i) + ' '; }, [&](std::string_view text) { written += text; });
  CHECK(written == expected);
  CHECK_THROWS_AS(write_in_order(
                      2, [](size_t) -> std::string { throw std::runtime_error("no"); }, [](std::string_view) {}),
                  std::runtime_error);
}

TEST_CASE("a call that runs out of memory while others run is repeated by fewer threads") {
  std::atomic<int> running = 0, done = 0;
  std::atomic<bool> reduced = false;
  std::vector<int> remaining;
  // A loop that never gives up a thread fails the test after this time.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto in_time = [&] { return std::chrono::steady_clock::now() < deadline; };
  parallel_for(
      8, 4,
      [&](size_t) {
        const int others = running++;
        // The first call runs until another one has failed beside it.
        do {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        } while (others == 0 && !reduced && in_time());
        --running;
        if (others > 0 && in_time()) throw std::bad_alloc();  // the memory suffices for one
        ++done;
      },
      [&](int threads, Resource lacking) {
        CHECK(lacking == Resource::memory);
        remaining.push_back(threads);
        reduced = true;
      });
  CHECK(done == 8);
  CHECK_FALSE(remaining.empty());
  CHECK(remaining.size() <= 3);
  for (const int threads : remaining) CHECK((threads >= 1 && threads <= 3));
}

TEST_CASE("a call that runs out of memory alone, or throws another exception, ends the loop") {
  std::atomic<int> calls = 0;
  const auto memory = [&](size_t) {
    ++calls;
    throw std::bad_alloc();
  };
  CHECK_THROWS_AS(parallel_for(100, 3, memory), std::bad_alloc);
  CHECK(calls <= 6);
  const auto other = [&](size_t i) {
    if (i == 3) throw std::runtime_error("three");
  };
  CHECK_THROWS_WITH(parallel_for(100, 3, other), "three");
}
