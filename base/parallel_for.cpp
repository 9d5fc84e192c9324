#include "base/parallel_for.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cores.h"

namespace posbench {
namespace {

/// The pending calls, shared by the threads.
class Calls {
 public:
  Calls(size_t count, const std::function<void(size_t)>& f, const OnJobsReduced& on_jobs_reduced)
      : count_(count), f_(f), on_jobs_reduced_(on_jobs_reduced) {}

  /// Makes calls until none is left, or until other threads are to make them.
  void work() {
    std::unique_lock lock(mutex_);
    while (const std::optional<size_t> i = next()) {
      const bool alone = threads_ == 1;
      lock.unlock();
      std::exception_ptr failure;
      bool memory = false;
      try {
        f_(*i);
      } catch (const std::bad_alloc&) {
        failure = std::current_exception();
        memory = true;
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (!failure) continue;
      if (!memory || alone) {
        if (!failure_) failure_ = failure;
        break;
      }
      repeated_.push_back(*i);
      if (threads_ == 1) continue;
      if (on_jobs_reduced_) on_jobs_reduced_(threads_ - 1, Resource::memory);
      break;
    }
    --threads_;
  }

  void add_thread() {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  /// Takes back add_thread() if the thread could not be started.
  void remove_thread(Resource lacking) {
    const std::lock_guard lock(mutex_);
    --threads_;
    if (on_jobs_reduced_) on_jobs_reduced_(threads_, lacking);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::optional<size_t> next() {
    if (failure_) return std::nullopt;
    if (next_ < count_) return next_++;
    if (repeated_.empty()) return std::nullopt;
    const size_t i = repeated_.back();
    repeated_.pop_back();
    return i;
  }

  const size_t count_;
  const std::function<void(size_t)>& f_;
  const OnJobsReduced& on_jobs_reduced_;
  std::mutex mutex_;
  size_t next_ = 0;
  std::vector<size_t> repeated_;  // calls that ran out of memory while others ran
  int threads_ = 1;               // at work, with the thread that called parallel_for
  std::exception_ptr failure_;
};

}  // namespace

void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& f,
                  const OnJobsReduced& on_jobs_reduced) {
  Calls calls(count, f, on_jobs_reduced);
  const size_t num_threads = std::min(count, static_cast<size_t>(jobs));
  std::vector<std::thread> threads;
  threads.reserve(num_threads);
  for (size_t n = 1; n < num_threads; ++n) {
    calls.add_thread();
    try {
      threads.emplace_back([&] { calls.work(); });
    } catch (const std::bad_alloc&) {
      calls.remove_thread(Resource::memory);
      break;
    } catch (const std::system_error&) {
      calls.remove_thread(Resource::threads);
      break;
    }
  }
  calls.work();
  for (std::thread& thread : threads) thread.join();
  calls.rethrow();
}

void write_in_order(size_t count, const std::function<std::string(size_t)>& make,
                    const std::function<void(std::string_view)>& write) {
  constexpr size_t kAtOnce = 512;
  std::vector<std::string> texts;
  for (size_t first = 0; first < count; first += kAtOnce) {
    texts.resize(std::min(kAtOnce, count - first));
    parallel_for(texts.size(), count_cores(), [&](size_t i) { texts[i] = make(first + i); });
    for (const std::string& text : texts) write(text);
  }
}

int count_cores() { return usable_cores().count; }

}  // namespace posbench
