// Measures the memory that functions take, each in a separate process.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace posbench {

/// Runs functions one after the other, each in a process that starts as a copy of this process.
class MemoryUse {
 public:
  /// Starts the first function. This process must not have other threads, whose locks would stay locked in the
  /// copies.
  explicit MemoryUse(const std::vector<std::function<void()>>& functions);
  /// Waits for the remaining functions.
  ~MemoryUse();
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;

  /// Waits for the next function. Returns the most bytes that it took in addition to those before it; 0 if it
  /// failed or the system has no figure.
  std::int64_t next();

 private:
  int results_ = -1;  // the reading end of a pipe
  pid_t child_ = -1;
};

}  // namespace posbench
