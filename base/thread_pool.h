// Keeps threads that compute one loop after another, on cores that nothing else uses.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace posbench {

/// Counts idle cores. Thread pools borrow them for one loop at a time. All functions may be called from any
/// thread.
class IdleCores {
 public:
  /// The count is negative if there are more threads than cores.
  explicit IdleCores(int count) : count_(count) {}

  void add(int count) { count_ += count; }
  /// Takes up to `most` cores. Returns their number, which the caller gives back with add().
  int take(int most);
  /// From now on nothing can be taken.
  void close() { is_open_ = false; }

 private:
  std::atomic<int> count_;
  std::atomic<bool> is_open_ = true;
};

/// Threads that compute loops together with the thread that calls for_each. They start when they are first needed.
/// One thread at a time may call for_each.
class ThreadPool {
 public:
  /// Has up to `threads` threads, including the calling one: a loop runs on the calling thread and on as many idle
  /// cores as there are when it begins. `cores` must outlive the pool.
  ThreadPool(int threads, IdleCores& cores);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls f(index, thread) for each index from 0 to count - 1, beginning with the smallest. `thread` is 0 for the
  /// calling thread and below max_threads(); calls with the same `thread` never overlap. After an exception
  /// no further call starts, and of several exceptions that of the smallest index is rethrown here.
  void for_each(size_t count, const std::function<void(size_t index, size_t thread)>& f);

  int max_threads() const { return max_threads_; }
  /// Returns whether a loop has had more than one thread.
  bool was_parallel() const { return !helpers_.empty(); }
  /// Returns the CPU seconds of all calls that other threads than the calling one have made.
  double helper_cpu_seconds() const;

 private:
  struct Helper;

  int start_helpers(int count);
  void make_calls(size_t thread);

  const int max_threads_;
  IdleCores& cores_;
  std::vector<std::unique_ptr<Helper>> helpers_;

  // The current loop.
  size_t count_ = 0;
  const std::function<void(size_t, size_t)>* f_ = nullptr;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  // protects failed_index_ and failure_
  size_t failed_index_ = 0;
  std::exception_ptr failure_;
};

/// Returns a pool without threads: loops run on the calling thread. Any number of threads may use it at once.
ThreadPool& calling_thread();

}  // namespace posbench
