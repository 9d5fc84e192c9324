// The coverage of the interval of the effective length if the truth is known: five bimodal seeds, tested with as
// few sequences as a grid has.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "base/random.h"
#include "results/statistics/effective_length.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

constexpr int kMultiples = static_cast<int>(std::size(kGridMultiples));

/// Returns the number of sequences of evaluation.grid=256 (harness/training/task_grid.h).
int sequences_at(double multiple) { return std::max(64, static_cast<int>(std::ceil(256 / multiple))); }

/// A distribution of seeds. A seed is good with probability `good`. A good seed keeps `longest` multiples, or up
/// to `varied` fewer, equally likely; any other seed keeps `shortest`.
struct Family {
  double good = 0;
  int longest = 0, varied = 0, shortest = 0;

  int draw(Rng& rng) const { return bernoulli(rng, good) ? longest - uniform(rng, 0, varied) : shortest; }
  /// Returns the largest number of multiples that a seed keeps with a probability above one half.
  int true_count() const {
    for (int count = longest; count > shortest; --count) {
      const double share = (std::min(varied, longest - count) + 1) / (varied + 1.0);
      if (good * share > 0.5) return count;
    }
    return shortest;
  }
};

Family draw_family(Rng& rng, int most_varied) {
  Family family{.good = uniform_real(rng), .longest = uniform(rng, 1, kMultiples)};
  family.varied = uniform(rng, 0, std::min(most_varied, family.longest - 1));
  family.shortest = uniform(rng, 0, family.longest - family.varied - 1);
  return family;
}

/// Tests a seed that keeps `kept` multiples with a sequence accuracy of `right`, and less than half beyond.
ExperimentResult test_seed(Rng& rng, int kept, double right) {
  GridResult grid{.option = "length"};
  for (int n = 0; n < kMultiples && !has_failed(grid); ++n) {
    const double accuracy = n < kept ? right : 0.4 * uniform_real(rng);
    GridPoint point{.multiple = kGridMultiples[n], .value = n, .sequences = sequences_at(kGridMultiples[n])};
    for (int s = 0; s < point.sequences; ++s) point.sequence += {bernoulli(rng, accuracy), 1};
    grid.points.push_back(point);
  }
  return {.grids = {grid}};
}

/// Returns the fraction of families whose interval contains the true effective length.
template <class DrawFamily>
double coverage(int families, size_t seeds, double right, DrawFamily draw) {
  Rng rng = make_rng(seeds, "effective length");
  int covered = 0;
  for (int n = 0; n < families; ++n) {
    const Family family = draw(rng);
    std::vector<ExperimentResult> experiments;
    for (size_t seed = 0; seed < seeds; ++seed) experiments.push_back(test_seed(rng, family.draw(rng), right));
    std::vector<const ExperimentResult*> pointers;
    for (const ExperimentResult& experiment : experiments) pointers.push_back(&experiment);
    const Interval interval = *find_effective_length(pointers, "length")->interval;
    const int count = family.true_count();
    const double truth = count == 0 ? 0 : kGridMultiples[count - 1];
    covered += interval.low <= truth && truth <= interval.high;
  }
  return covered / static_cast<double>(families);
}

}  // namespace

TEST_CASE("figures of the simulated effective lengths: the interval of five bimodal seeds covers the truth") {
  const char* given = std::getenv("POSBENCH_FAMILIES");
  const int families = given ? std::atoi(given) : 1000;
  const auto two_lengths = [](Rng& rng) { return draw_family(rng, 0); };
  const auto varied = [](Rng& rng) { return draw_family(rng, kMultiples); };
  const auto even = [](Rng&) { return Family{.good = 0.5, .longest = 6, .shortest = 2}; };
  const auto spread = [](Rng&) { return Family{.good = 1, .longest = kMultiples, .varied = kMultiples - 1}; };
  for (const size_t seeds : {size_t{5}, size_t{10}}) {
    for (const double right : {0.995, 0.97, 0.95}) {
      CAPTURE(seeds, right);
      const double figures[] = {coverage(families, seeds, right, two_lengths),
                                coverage(families, seeds, right, varied), coverage(families, seeds, right, even),
                                coverage(families, seeds, right, spread)};
      for (const double figure : figures) CHECK(figure >= 0.9);
      if (given)
        std::printf("%zu seeds, accuracy %.3f: %.3f %.3f %.3f %.3f\n", seeds, right, figures[0], figures[1],
                    figures[2], figures[3]);
    }
    if (given)
      std::printf("%zu seeds, accuracy 0.920: %.3f\n", seeds, coverage(families, seeds, 0.92, two_lengths));
  }
}
