// Tests of trained models at multiples of the trained length and distance.
#include "harness/training/task_grid.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "encodings/registry.h"
#include "harness/runs/suite.h"
#include "harness/training/evaluate_grids.h"
#include "harness/training/run_experiment.h"
#include "tasks/parts/basic_task.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

TaskInfo test_info(const char* name) {
  return {.name = name,
          .family = "test",
          .definition = "this test",
          .source = "this test",
          .splits = {{"in_distribution", {}, ""}}};
}

/// A task of one length.
class FixedLength final : public Task {
 public:
  using Options = NoOptions;
  FixedLength(const Options&, Layout) {}
  int vocabulary() const override { return 2; }
  double chance_level() const override { return 1; }
  const Integers& lengths() const override { return length_; }
  Example sample(int, Rng&) const override {
    return {.tokens = {0, 1}, .targets = {kIgnore, 1}, .scored = {1}, .segments = {0, 0}};
  }
  std::string token_text(int) const override { return "x"; }

 private:
  Integers length_{2};
};

const RegisterTask<FixedLength> registered{test_info("test_fixed_length")};

/// A task whose last token is 1 and has no other candidate; or it is a random bit, asked in a fifth of all.
template <bool kAsks>
class LastBit final : public BasicTask<LengthOption<"tokens">> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return 2; }
  double chance_level() const override { return kAsks ? 0.9 : 1; }
  Example sample(int length, Rng& rng) const override {
    Example example;
    example.tokens.assign(static_cast<size_t>(length), 0);
    example.targets.assign(example.tokens.size(), kIgnore);
    example.targets.back() = kAsks ? uniform(rng, 0, 1) : 1;
    example.scored = {length - 1};
    example.segments.assign(example.tokens.size(), 0);
    if (!kAsks || !bernoulli(rng, 0.2)) example.candidates = {example.targets.back()};
    return example;
  }
  std::string token_text(int) const override { return "x"; }
};

/// Every model solves it.
const RegisterTask<LastBit<false>> always_right{test_info("test_always_right")};

/// An untrained model is right in 0.9 of the sequences.
const RegisterTask<LastBit<true>> mostly_right{test_info("test_mostly_right")};

TaskGrid grid_of(const std::string& task, const std::string& option) {
  const Spec spec = Spec::parse(task);
  const int vocabulary = make_task(spec, {}, Layout::teacher_forced)->vocabulary();
  std::vector<TaskGrid> grids = make_task_grids(spec, {}, vocabulary);
  for (TaskGrid& grid : grids) {
    if (grid.option == option) return std::move(grid);
  }
  return {};
}

std::vector<std::pair<double, int>> points_of(const TaskGrid& grid) {
  std::vector<std::pair<double, int>> points;
  for (const TaskGrid::Point& point : grid.points) points.emplace_back(point.multiple, point.value);
  return points;
}

using Points = std::vector<std::pair<double, int>>;

RunConfig config_with_grid(const std::string& tasks, const std::string& encodings, int grid) {
  RunConfig config = make_config({.profile = "smoke", .tasks = tasks, .encodings = encodings});
  config.evaluation.grid = grid;
  return config;
}

/// Tests an untrained model on the grid by length.
GridResult evaluate_untrained(const TaskSetup& task, const std::string& encoding, int threads = 1) {
  const Model model = make_model(Spec::parse(encoding), task.model_config);
  const Spec spec = Spec::parse(encoding);
  const Parameters parameters = initialize(model.layout, 3);
  IdleCores cores(threads - 1);
  ThreadPool pool(threads, cores);
  return evaluate_grids({task, spec, 3, model, parameters}, {}, pool)->at(0);
}

}  // namespace

TEST_CASE("a grid has the multiples of the greatest trained length that the task allows") {
  const TaskGrid even_pairs = grid_of("even_pairs:length=1..20", "length");
  CHECK(points_of(even_pairs) ==
        Points{{1, 20}, {1.5, 30}, {2, 40}, {3, 60}, {4, 80}, {6, 120}, {8, 160}, {16, 320}});
  CHECK(even_pairs.limit.empty());
  CHECK(even_pairs.points[1].task->lengths().max() == 30);
  const TaskGrid letters = grid_of("index_retrieval:length=4..10,farthest=4", "length");
  CHECK(points_of(letters) == Points{{1, 10}, {1.5, 15}, {2, 20}, {3, 30}, {4, 40}});  // there are 52 letters
  CHECK(letters.limit.find("length") != std::string::npos);
  const TaskGrid distances = grid_of("last_x_retrieval", "distance");
  CHECK(points_of(distances) == Points{{1, 7}, {1.5, 11}, {2, 15}, {3, 23}, {4, 31}});
  CHECK(distances.limit.find("distance") != std::string::npos);
}

TEST_CASE("of two multiples that are rounded to one length the larger remains, and an invalid one is missing") {
  CHECK(points_of(grid_of("even_pairs:length=1", "length")).at(1) == std::pair(2.0, 2));
  const Points even = points_of(grid_of("mqar:length=10,pairs=2", "length"));
  CHECK(even.at(1) == std::pair(2.0, 20));  // the length of mqar is even
  CHECK(even.back() == std::pair(16.0, 160));
}

TEST_CASE("a task of a fixed length has no grid, and every other grid begins at the trained length") {
  CHECK(make_task_grids(Spec::parse("test_fixed_length"), {}, 2).empty());
  int with_grid = 0;
  for (const std::string& name : tasks().names()) {
    CAPTURE(name);
    if (name.starts_with("test_") || name == "text") continue;  // text needs a file
    const TaskGrid grid = grid_of(name, "length");
    if (grid.points.empty()) continue;
    ++with_grid;
    CHECK(grid.points.front().multiple == 1);
    CHECK(grid.points.size() >= 2);
    CHECK((grid.points.back().multiple == 16) == grid.limit.empty());
  }
  CHECK(with_grid >= 50);
}

TEST_CASE("a grid has fewer sequences at long lengths, but at least 64 or as many as at the trained length") {
  CHECK(grid_sequences(256, 1) == 256);
  CHECK(grid_sequences(256, 1.5) == 171);
  CHECK(grid_sequences(256, 4) == 64);
  CHECK(grid_sequences(256, 16) == 64);
  CHECK(grid_sequences(8, 16) == 8);
}

TEST_CASE("the samples of a grid are those of no split") {
  CHECK(StreamId{.purpose = Purpose::test, .grid = "length=2x"}.text() == "grid:length=2x");
  const Suite suite = make_suite(config_with_grid("last_x_retrieval", "none", 8));
  const TaskSetup& task = *suite.tasks.at(0);
  REQUIRE(task.grids.size() == 2);
  std::set<std::string> texts;
  for (const TaskGrid& grid : task.grids) {
    for (const TaskGrid::Point& point : grid.points) texts.insert(task.grid_stream(grid, point, 5).text);
  }
  CHECK(texts.size() == 13);  // 8 lengths, 5 distances
  CHECK(texts.contains("grid:distance=1.5x"));
  const SampleStream samples = task.grid_stream(task.grids[0], task.grids[0].points[2], 5);
  CHECK(samples(0).length == 64);
}

TEST_CASE("a grid changes no other number of an experiment") {
  const auto run_one = [](int grid) {
    const Suite suite = make_suite(config_with_grid("last_x_retrieval", "learned_abs", grid));
    return run_experiment(suite.experiments.at(0)).value().at(0);
  };
  ExperimentResult with = run_one(8);
  const ExperimentResult without = run_one(0);
  REQUIRE(with.grids.size() == 2);
  CHECK(with.grids[0].points.front().sequences == 8);
  with.grids.clear();
  CHECK(with == without);
}

TEST_CASE("a grid ends after two multiples below one half, and where task, encoding or memory allow no more") {
  const Suite suite =
      make_suite(config_with_grid("reverse_string,test_always_right,last_x_retrieval", "none", 16));
  const GridResult failing = evaluate_untrained(*suite.tasks.at(0), "none");
  CHECK(failing.end == GridEnd::accuracy);
  CHECK(failing.points.size() == 2);
  const TaskSetup& solved = *suite.tasks.at(1);
  CHECK(solved.model_config.longest == 20);
  const GridResult complete = evaluate_untrained(solved, "none");
  CHECK(complete.end == GridEnd::complete);
  REQUIRE(complete.points.size() == 8);
  CHECK(complete.points.back().sequence == Count{16, 16});
  const GridResult limited = evaluate_untrained(solved, "randomized:max=50");  // 2x has 40 tokens, 3x has 60
  CHECK(limited.end == GridEnd::encoding);
  CHECK(limited.reason ==
        "encoding 'randomized': max is 50, less than the longest sequence, 60; set max to 60 or more");
  CHECK(limited.points.size() == 3);
  const TaskSetup far =
      make_task_setup(config_with_grid("test_always_right", "none", 1), "test_always_right:length=3000");
  const GridResult large = evaluate_untrained(far, "none");  // of one layer and two heads
  CHECK(large.end == GridEnd::memory);
  CHECK(large.points.back().multiple == 2);
  CHECK(large.reason.find("9000 tokens") != std::string::npos);
}

TEST_CASE(
    "a multiple is tested 64 sequences at a time until its accuracy is decided, with any number of threads") {
  RunConfig config = config_with_grid("test_always_right,test_mostly_right,reverse_string", "none", 512);
  config.evaluation.grid_rules = 2;
  const Suite suite = make_suite(config);
  for (const GridPoint& point : evaluate_untrained(*suite.tasks.at(0), "none").points)
    CHECK(point.sequences == 64);
  const GridResult undecided = evaluate_untrained(*suite.tasks.at(1), "none");
  CHECK(undecided == evaluate_untrained(*suite.tasks.at(1), "none", 3));
  REQUIRE(undecided.points.size() == 8);
  int longest = 0;
  for (const GridPoint& point : undecided.points) {
    CHECK(point.sequences % 64 == 0);
    CHECK((point.sequences == 512 || is_decided(point.sequence)));
    longest = std::max(longest, static_cast<int>(point.sequences));
  }
  CHECK(longest == 512);
  const GridResult failing = evaluate_untrained(*suite.tasks.at(2), "none");
  CHECK(failing.end == GridEnd::accuracy);
  REQUIRE(failing.points.size() == 5);  // the accuracy at four times the length is always measured
  CHECK(failing.points.back().multiple == 4);
  CHECK(failing.points.back().sequences == 64);
}

TEST_CASE("a requested stop ends the tests of a grid without a result") {
  const Suite suite = make_suite(config_with_grid("even_pairs", "none", 16));
  const TaskSetup& task = *suite.tasks.at(0);
  const Model model = make_model(Spec::parse("none"), task.model_config);
  std::stop_source stop;
  stop.request_stop();
  const Spec none = Spec::parse("none");
  const Parameters parameters = initialize(model.layout, 3);
  CHECK_FALSE(evaluate_grids({task, none, 3, model, parameters}, stop.get_token()));
}
