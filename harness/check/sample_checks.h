// Checks what the examples of a task state about themselves: evidence, distances and lengths.
#pragma once
#include <string>

#include "harness/check/oracles.h"
#include "tasks/task.h"

namespace posbench {

/// Returns a message if the evidence of an example is wrong, or "". The evidence holds the answer, and if
/// `other_answer` replaces it, the oracle gives another answer. One scored position, `which` modulo their number,
/// is tried. A null oracle is not asked.
std::string check_evidence(const Example&, int other_answer, size_t which, const Oracle*);

/// Returns a message if the distances of an example are wrong, or "". A task has distances if it has a unit for
/// them. They are those of the oracle, and in tokens they are those to the evidence. A null oracle is not asked.
std::string check_distances(const Example&, const TaskInfo&, const Oracle*);

/// Returns a message if the greatest or the smallest lengths give the same samples, or "". Lengths in between may,
/// if the task rounds.
std::string check_lengths_differ(const Task&);

/// Returns true if two tasks draw the same samples from the same random numbers.
bool have_same_samples(const Task&, const Task&);

}  // namespace posbench
