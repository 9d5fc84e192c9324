// The coverage of the interval of the effective length if the truth is known: bimodal seeds, each tested with as
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

/// The sequence accuracies at the multiples that a seed keeps, and at the others.
struct Accuracies {
  double kept = 1, beyond = 0;
};

/// Tests a seed that keeps `kept` multiples: 64 sequences at a time until the accuracy is decided, at most 512.
ExperimentResult test_seed(Rng& rng, int kept, Accuracies accuracies) {
  GridResult grid{.option = "length"};
  for (int n = 0; n < kMultiples && !has_failed(grid); ++n) {
    GridPoint point{.multiple = kGridMultiples[n], .value = n};
    while (point.sequences < 512 && !is_decided(point.sequence)) {
      for (int s = 0; s < 64; ++s)
        point.sequence += {bernoulli(rng, n < kept ? accuracies.kept : accuracies.beyond), 1};
      point.sequences = point.sequence.total;
    }
    grid.points.push_back(point);
  }
  return {.grids = {grid}};
}

/// Returns the fraction of families whose interval contains the true effective length.
template <class DrawFamily>
double coverage(int families, size_t seeds, Accuracies accuracies, DrawFamily draw) {
  Rng rng = make_rng(seeds, "effective length");
  int covered = 0;
  for (int n = 0; n < families; ++n) {
    const Family family = draw(rng);
    std::vector<ExperimentResult> experiments;
    for (size_t seed = 0; seed < seeds; ++seed)
      experiments.push_back(test_seed(rng, family.draw(rng), accuracies));
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

TEST_CASE("figures of the simulated effective lengths: the interval of bimodal seeds covers the truth") {
  const char* given = std::getenv("POSBENCH_FAMILIES");
  const int families = given ? std::atoi(given) : 200;
  const auto two_lengths = [](Rng& rng) { return draw_family(rng, 0); };
  const auto varied = [](Rng& rng) { return draw_family(rng, kMultiples); };
  const auto even = [](Rng&) { return Family{.good = 0.5, .longest = kMultiples, .shortest = 0}; };
  const auto spread = [](Rng&) { return Family{.good = 1, .longest = kMultiples, .varied = kMultiples - 1}; };
  const double least =
      0.9 - 3 * std::sqrt(0.1 * 0.9 / families);  // of a measured coverage, if the true one is 0.9
  for (const size_t seeds : {size_t{5}, size_t{10}}) {
    for (const Accuracies accuracies : {Accuracies{0.99, 0.4}, {0.95, 0.85}, {0.92, 0.88}, {0.9, 0.899}}) {
      CAPTURE(seeds, accuracies.kept, accuracies.beyond);
      const double figures[] = {
          coverage(families, seeds, accuracies, two_lengths), coverage(families, seeds, accuracies, varied),
          coverage(families, seeds, accuracies, even), coverage(families, seeds, accuracies, spread)};
      for (const double figure : figures) CHECK(figure >= least);
      if (given)
        std::printf("%zu seeds, accuracy %.3f, beyond %.3f: %.3f %.3f %.3f %.3f\n", seeds, accuracies.kept,
                    accuracies.beyond, figures[0], figures[1], figures[2], figures[3]);
    }
  }
}

TEST_CASE("the test of a multiple ends where the 95 % Wilson interval of its accuracy excludes 0.90") {
  for (const std::int64_t total : {64, 128, 512}) {
    for (std::int64_t correct = 0; correct <= total; ++correct) {
      const Interval interval = wilson_interval({correct, total});
      CHECK(is_decided({correct, total}) == (interval.low > kKept || interval.high < kKept));
    }
  }
  CHECK_FALSE(is_decided({}));
}
