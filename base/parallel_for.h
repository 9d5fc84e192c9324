// Threads.
#pragma once
#include <cstddef>
#include <functional>

namespace posbench {

/// Calls f(0) ... f(count - 1), `jobs` at once, one thread each. What one throws keeps further ones from beginning
/// and is thrown again from here.
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& f);

/// How many threads the machine runs at once, as far as it says.
int all_cores();

}  // namespace posbench
