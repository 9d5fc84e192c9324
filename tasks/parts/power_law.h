// Random draws of the recall tasks of Zoology: ids, and the gaps that hold the questions.
#pragma once
#include <vector>

#include "base/random.h"

namespace posbench {

/// `wanted` different ids, uniform over first..first+count-1, in random order.
std::vector<int> distinct_ids(Rng&, int first, int count, int wanted);

/// `wanted` different gaps out of 0..count-1, one after the other with probability proportional to
/// (gap + 1)^(power - 1): near ones are favoured, power=1 makes all equally likely.
std::vector<int> power_law_gaps(Rng&, int count, int wanted, double power);

}  // namespace posbench
