// The far form of every task with evidence: by the oracle, the evidence is uniformly anywhere in the sequence.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/sample_checks.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// The second task of `then` decides where the evidence is, and `then` cannot change its options.
constexpr const char* kWithoutFar = "then";

/// Tasks whose questions follow all evidence, so that their distances are uniform instead of its positions.
const std::set<std::string> kByDistance{"mqar", "forgetting_mqar", "compositional_mqar"};

TaskSetup setup_with_grid(const std::string& task) {
  ExperimentOptions options;
  options.evaluation.grid = 512;
  options.evaluation.grid_rules = 2;
  return make_task_setup(options, task);
}

const TaskGrid& grid_of(const TaskSetup& setup, const std::string& option) {
  return *std::ranges::find(setup.grids, option, &TaskGrid::option);
}

/// Returns the greatest difference from a uniform distribution: of the fraction of one of at most eight bins,
/// relative to that of the others.
double largest_deviation(const std::vector<int>& values) {
  const std::set<int> distinct(values.begin(), values.end());
  const int least = *distinct.begin(), range = *distinct.rbegin() - least + 1;
  const bool is_small = distinct.size() <= 8;
  const int bins = is_small ? static_cast<int>(distinct.size()) : 8;
  std::map<int, double> counts;
  for (const int value : values) {
    counts[is_small ? static_cast<int>(std::distance(distinct.begin(), distinct.find(value)))
                    : (value - least) * bins / range] += 1;
  }
  double largest = 0;
  for (int bin = 0; bin < bins; ++bin)
    largest = std::max(largest, std::abs(counts[bin] * bins / static_cast<double>(values.size()) - 1));
  return largest;
}

}  // namespace

TEST_CASE("every task with evidence has a far form whose evidence is uniformly anywhere by its oracle") {
  constexpr int kSamples = 2000, kReplacedEvery = 20;
  int with_far = 0;
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    if (name.starts_with("test_") || name.starts_with("planted_") || name == "text" || name == kWithoutFar)
      continue;  // text needs a file
    CAPTURE(name);
    const TaskSetup setup = setup_with_grid(name);
    const bool has_evidence = !setup.stream({Purpose::test})(0).example.evidence.empty();
    REQUIRE(has_evidence == info.far.has_value());
    if (!has_evidence) continue;
    ++with_far;
    const TaskGrid& far = grid_of(setup, kFarGrid);
    const TaskGrid& grid = far.points.empty() ? grid_of(setup, "length") : far;
    CHECK(far.points.empty() == info.far->options.empty());
    const auto at_four = std::ranges::find(grid.points, 4.0, &TaskGrid::Point::multiple);
    const TaskGrid::Point& point = at_four == grid.points.end() ? grid.points.back() : *at_four;
    const Oracle& oracle = oracles().at(name);
    std::vector<int> values;
    for (int n = 0; n < kSamples; ++n) {
      Rng rng = make_rng(0, "far", n);
      const Example e = point.task->sample(point.value, rng);
      REQUIRE_FALSE(e.evidence.empty());
      std::vector<int> answers;
      for (const int t : e.scored) answers.push_back(e.targets[t]);
      REQUIRE(oracle(e) == answers);
      const size_t which = static_cast<size_t>(n) % e.scored.size();
      const int other = answers[which] <= 1 ? answers[which] + 1 : answers[which] - 1;
      if (n % kReplacedEvery == 0) CHECK(check_evidence(e, other, which, &oracle).empty());
      for (size_t i = 0; i < e.evidence.size(); ++i)
        values.push_back(kByDistance.contains(name) ? e.scored[i] - e.evidence[i]
                                                    : 1000 * e.evidence[i] / static_cast<int>(e.tokens.size()));
    }
    CHECK(largest_deviation(values) < 0.3);
  }
  CHECK(with_far >= 15);
}

TEST_CASE("with near evidence an answer stays within the trained distance, and with far evidence it does not") {
  const TaskSetup setup = setup_with_grid("last_x_retrieval");
  const auto greatest = [&](const char* option) {
    const TaskGrid& grid = grid_of(setup, option);
    const SampleStream samples = setup.grid_stream(grid, grid.points.back(), 0);
    int greatest = 0;
    for (int n = 0; n < 50; ++n) greatest = std::max(greatest, samples(n).example.distances.at(0));
    return greatest;
  };
  CHECK(greatest("length") <= 7);
  CHECK(greatest(kFarGrid) > 256);
  CHECK(grid_of(setup, kFarGrid).points.back().value == 512);
}

TEST_CASE("as many answers are scored at each multiple as at the trained length, chosen at random") {
  for (const std::string task : {"flip_flop", "reverse_string", "mqar"}) {
    CAPTURE(task);
    const TaskSetup setup = setup_with_grid(task);
    const TaskGrid& grid = grid_of(setup, "length");
    const SampleStream trained = setup.grid_stream(grid, grid.points.front(), 3),
                       longer = setup.grid_stream(grid, grid.points.back(), 3);
    std::set<double> places;  // of the first scored position
    for (int n = 0; n < 20; ++n) {
      const Example e = longer(n).example;
      CHECK(e.scored.size() == trained(n).example.scored.size());
      CHECK(e.scored == longer(n).example.scored);
      CHECK((e.distances.empty() || e.distances.size() == e.scored.size()));
      CHECK((e.evidence.empty() || e.evidence.size() == e.scored.size()));
      places.insert(e.scored.front());
    }
    CHECK(places.size() >= 4);
  }
}
