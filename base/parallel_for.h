// Runs a loop on several threads.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace posbench {

enum class Resource { memory, threads };
using OnJobsReduced = std::function<void(int threads, Resource lacking)>;

/// Calls f(0) ... f(count - 1) on up to `jobs` threads, including this one. After an exception no further call
/// starts, and the exception is rethrown here.
///
/// If the machine cannot start that many threads, fewer do the work. A call that throws std::bad_alloc while
/// others run is repeated later, with one thread less. Each time the number of threads falls, `on_jobs_reduced` is
/// called, by one thread at a time, with the number of remaining threads and with the resource that is lacking. A
/// call fails if it runs out of memory while no other runs.
void parallel_for(size_t count, int jobs, const std::function<void(size_t)>& f,
                  const OnJobsReduced& on_jobs_reduced = {});

/// Calls make(0) ... make(count - 1) on all cores, and passes the texts to `write` in this order. At most 512 of
/// them are in memory at any time.
void write_in_order(size_t count, const std::function<std::string(size_t)>& make,
                    const std::function<void(std::string_view)>& write);

/// Returns the number of cores that this process may use (base/cores.h).
int count_cores();

}  // namespace posbench
