#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "base/system.h"

namespace posbench {
namespace {

/// A loop requests helpers. One that the operating system has not started when all calls are made is not needed,
/// and its request is withdrawn: a thread of a busy machine may wait longer than the loop takes.
enum State : int { kIdle, kRequested, kWorking, kEnding };

/// Waits while the state is `value`. The loops of a training step follow each other within microseconds, in which
/// a thread neither falls asleep nor wakes up.
void wait_while(const std::atomic<int>& state, int value) {
  constexpr int kYields = 500;
  for (int n = 0; n < kYields; ++n) {
    if (state.load(std::memory_order_acquire) != value) return;
    std::this_thread::yield();
  }
  state.wait(value, std::memory_order_acquire);
}

void set_state(std::atomic<int>& state, int value) {
  state.store(value, std::memory_order_release);
  state.notify_one();
}

/// Returns false if the state is not `from`.
bool change_state(std::atomic<int>& state, int from, int to) {
  return state.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

}  // namespace

int IdleCores::take(int most) {
  int count = count_;
  while (is_open_) {
    const int taken = std::min(most, count);
    if (taken <= 0) return 0;
    if (count_.compare_exchange_weak(count, count - taken)) return taken;
  }
  return 0;
}

struct ThreadPool::Helper {
  std::atomic<int> state = kIdle;
  std::atomic<double> cpu_seconds = 0;
  std::jthread thread;  // the last member, because it uses the others until it is joined
};

ThreadPool::ThreadPool(int threads, IdleCores& cores) : max_threads_(std::max(1, threads)), cores_(cores) {}

ThreadPool::~ThreadPool() {
  for (const auto& helper : helpers_) set_state(helper->state, kEnding);
}

/// Returns the number of threads that help in the next loop: `count`, or fewer if the machine cannot start them
/// all.
int ThreadPool::start_helpers(int count) {
  while (static_cast<int>(helpers_.size()) < count) {
    try {
      helpers_.push_back(std::make_unique<Helper>());
      helpers_.back()->thread = std::jthread([this, &helper = *helpers_.back(), thread = helpers_.size()] {
        for (;;) {
          wait_while(helper.state, kIdle);
          if (helper.state == kEnding) return;
          if (!change_state(helper.state, kRequested, kWorking)) continue;
          const double start = thread_cpu_seconds();
          make_calls(thread);
          helper.cpu_seconds = helper.cpu_seconds + thread_cpu_seconds() - start;
          set_state(helper.state, kIdle);
        }
      });
    } catch (const std::exception&) {  // std::system_error or std::bad_alloc
      if (!helpers_.empty() && !helpers_.back()->thread.joinable()) helpers_.pop_back();
      break;
    }
  }
  return std::min(count, static_cast<int>(helpers_.size()));
}

void ThreadPool::make_calls(size_t thread) {
  for (size_t index = next_++; index < count_; index = next_++) {
    try {
      (*f_)(index, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || index < failed_index_) {
        failed_index_ = index;
        failure_ = std::current_exception();
      }
      next_ = count_;
    }
  }
}

void ThreadPool::for_each(size_t count, const std::function<void(size_t index, size_t thread)>& f) {
  const int wanted = static_cast<int>(std::min(count, static_cast<size_t>(max_threads_))) - 1;
  const int taken = wanted > 0 ? cores_.take(wanted) : 0;
  if (taken == 0) {
    for (size_t index = 0; index < count; ++index) f(index, 0);
    return;
  }
  const int helping = start_helpers(taken);
  count_ = count;
  f_ = &f;
  next_ = 0;
  failure_ = nullptr;
  const std::span helpers(helpers_.data(), static_cast<size_t>(helping));
  for (const auto& helper : helpers) set_state(helper->state, kRequested);
  make_calls(0);
  for (const auto& helper : helpers) {
    if (!change_state(helper->state, kRequested, kIdle)) wait_while(helper->state, kWorking);
  }
  cores_.add(taken);
  if (failure_) std::rethrow_exception(failure_);
}

double ThreadPool::helper_cpu_seconds() const {
  double seconds = 0;
  for (const auto& helper : helpers_) seconds += helper->cpu_seconds;
  return seconds;
}

ThreadPool& calling_thread() {
  static IdleCores none(0);
  static ThreadPool pool(1, none);
  return pool;
}

}  // namespace posbench
