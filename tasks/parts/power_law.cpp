#include "tasks/parts/power_law.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace posbench {

std::vector<int> distinct_ids(Rng& rng, int first, int count, int wanted) {
  std::vector<int> ids = distinct(rng, count, wanted);
  for (int& id : ids) id += first;
  shuffle(std::span(ids), rng);
  return ids;
}

std::vector<int> power_law_gaps(Rng& rng, int count, int wanted, double power) {
  // The first `wanted` of independent exponential arrival times have the distribution of such draws.
  std::vector<std::pair<double, int>> arrivals;
  for (int g = 0; g < count; ++g) {
    const double weight = std::pow(g + 1, power - 1);
    arrivals.emplace_back(-std::log(1 - uniform_real(rng)) / weight, g);
  }
  std::partial_sort(arrivals.begin(), arrivals.begin() + wanted, arrivals.end());
  std::vector<int> gaps;
  for (int m = 0; m < wanted; ++m) gaps.push_back(arrivals[m].second);
  return gaps;
}

}  // namespace posbench
