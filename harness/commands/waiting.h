// What a person sees while a command takes long.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace posbench {

/// While it lives, says on standard error what is under way: nothing for two seconds; then, on a terminal, a line that is
/// redrawn, and elsewhere a line every half a minute. Silent with --quiet.
class Waiting {
 public:
  explicit Waiting(std::string what);  // "measuring trivial predictors"
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// So many of all are done. From any thread.
  void count(size_t done, size_t of);
  /// This is under way now.
  void now(std::string what);
  /// Clears the line, before something else is printed; it comes back.
  void clear();

 private:
  void run();
  void draw();  // with the lock held

  std::string what_;
  bool terminal_, drawn_ = false, done_ = false;
  double seconds_ = 0;
  size_t finished_ = 0, all_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;
};

}  // namespace posbench
