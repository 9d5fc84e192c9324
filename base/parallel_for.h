// A loop over threads.
#pragma once
#include <cstddef>
#include <functional>

namespace posbench {

/// Calls f(0) ... f(count - 1) on `jobs` threads. After an exception no further call starts, and the first
/// exception is rethrown here.
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& f);

/// The number of hardware threads, or 1 if it is unknown.
int all_cores();

}  // namespace posbench
