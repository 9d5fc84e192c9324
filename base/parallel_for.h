// A loop over threads.
#pragma once
#include <cstddef>
#include <functional>

namespace posbench {

/// Calls f(0) ... f(count - 1), up to `jobs` at once: in this thread and in others. What a call throws keeps further
/// calls from beginning and is thrown again from here.
///
/// Where the machine cannot start that many threads, those that it started do the work. A call that throws
/// std::bad_alloc while others are running is repeated later, by one thread less; only a call that runs out of memory
/// alone fails. `fewer` is called, by one thread at a time, with the number of threads that go on.
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& f,
                  const std::function<void(int threads)>& fewer = {});

/// The number of hardware threads, or 1 if it is unknown.
int all_cores();

}  // namespace posbench
