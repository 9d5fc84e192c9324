// How much memory something takes, measured in processes of their own.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace posbench {

/// Runs functions one after the other, each in a process of its own that begins as a copy of this one.
class MemoryUse {
 public:
  /// Begins. This process must not have other threads: what they hold locked would stay locked in the copies.
  explicit MemoryUse(const std::vector<std::function<void()>>& functions);
  /// Waits for the rest.
  ~MemoryUse();
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;

  /// Waits for the next function. The bytes that it took at most, beside what was there before; 0 where it failed or
  /// the system does not say.
  std::int64_t next();

 private:
  int results_ = -1;  // the reading end of a pipe
  pid_t child_ = -1;
};

}  // namespace posbench
