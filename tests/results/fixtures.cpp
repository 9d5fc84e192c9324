#include "tests/results/fixtures.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
namespace {

constexpr auto kIn = SplitKind::in_distribution;
constexpr auto kOut = SplitKind::out_of_distribution;

SplitResult in_distribution(int wrong) {
  return {.name = "in_distribution",
          .kind = kIn,
          .sequences = 640,
          .token = {1280 - wrong, 1280},
          .sequence = {640 - wrong, 640},
          .by_length = {{3, {640, 640}, {320, 320}}, {9, {640 - wrong, 640}, {320 - wrong, 320}}},
          .by_distance = {{0, {900, 900}}, {4, {380 - wrong, 380}}}};
}

SplitResult ood_far(int wrong) {
  return {.name = "ood_far",
          .kind = kOut,
          .sequences = 641,  // in one of them nothing is scored
          .token = {1280 - wrong, 1280},
          .sequence = {640 - wrong, 640},
          .by_length = {{9, {1280 - wrong, 1280}, {640 - wrong, 640}}, {10, {0, 0}, {0, 0}}},
          .by_distance = {{4, {80, 80}}, {8, {1200 - wrong, 1200}}}};
}

ExperimentResult finished(const std::string& task, const std::string& encoding, std::uint64_t seed, int wrong) {
  return {.id = {task, encoding, seed},
          .parameters = 102533,
          .steps = 200,
          .stopped_early = seed == 7,
          .final_loss = 0.1 + wrong,
          .learning_curve = {{100, 0.7, 0.5, 0.125}, {200, 0.1 + wrong, 0.96875, 0.9375}},
          .splits = {in_distribution(0), ood_far(wrong)}};
}

ExperimentResult unfinished(const std::string& encoding, std::uint64_t seed, Status status,
                            const std::string& reason) {
  ExperimentResult result{
      .id = {"counting", encoding, seed}, .task_version = 2, .status = status, .reason = reason};
  if (status == Status::diverged) {
    result.diverged_step = 130;
    result.parameters = 102534;
    result.steps = 129;
    result.learning_curve = {{100, std::nullopt, 0.5, 0}};
  }
  return result;
}

TaskBaseline small_task(const std::string& name, int version) {
  return {.task = name,
          .version = version,
          .splits = {{"in_distribution", kIn, 0.5, {{"constant", 0.5}, {"last_token", 0.625}, {"position", 0.25}}},
                     {"ood_far", kOut, 0.5, {{"constant", 0.75}}}}};
}

}  // namespace

Report small_report() {
  Report report;
  report.context = {
      {"host", "a"}, {"cpu", "b"}, {"cores", 2}, {"compiler", "gcc 12"}, {"versions", {{"eigen", "3.4"}}}};
  report.config = {{"model", {{"width", 64}, {"layers", 2}}},
                   {"training", {{"steps", 200}, {"batch", 32}, {"learning_rate", 0.001}}},
                   {"evaluation", {{"sequences", 640}}}};
  report.tasks = {small_task("flip_flop:length=9", 1), small_task("counting", 2)};
  for (const std::string encoding : {"cope:positions=16", "rope"}) {
    for (const std::uint64_t seed : {0u, 7u}) {
      report.experiments.push_back(finished("flip_flop:length=9", encoding, seed, encoding == "rope" ? 200 : 0));
    }
  }
  report.experiments.push_back(finished("counting", "cope:positions=16", 0, 30));
  report.experiments.back().task_version = 2;
  report.experiments.back().learning_rate = 0.001;
  report.experiments.back().learning_rates = {{.learning_rate = 0.0001,
                                               .steps = 200,
                                               .final_loss = 0.7,
                                               .validation_token = 0.5,
                                               .validation_sequence = 0.125},
                                              {.learning_rate = 0.001,
                                               .steps = 200,
                                               .final_loss = 30.1,
                                               .validation_token = 0.96875,
                                               .validation_sequence = 0.9375},
                                              {.learning_rate = 0.01, .steps = 3, .diverged_step = 3}};
  report.experiments.push_back(unfinished("cope:positions=16", 7, Status::diverged, "the loss was inf"));
  report.experiments.push_back(unfinished("rope", 0, Status::failed, "no memory for <b>1e9</b> parameters"));
  report.timing = {{"seconds", 12.5}, {"experiments", {1.25, 2.5}}};
  return report;
}

GridResult drawn_grid(const std::string& option, const std::vector<double>& accuracies) {
  GridResult grid{.option = option};
  for (const double accuracy : accuracies) {
    const double multiple = kGridMultiples[grid.points.size()];
    const Count count{std::lround(1000 * accuracy), 1000};
    grid.points.push_back({.multiple = multiple,
                           .value = static_cast<int>(10 * multiple),
                           .sequences = 1000,
                           .token = count,
                           .sequence = count});
  }
  if (has_failed(grid)) {
    grid.end = GridEnd::accuracy;
  } else if (accuracies.size() < std::size(kGridMultiples)) {
    grid.end = GridEnd::task;
    grid.reason = "the task has no more items";
  }
  return grid;
}

Report drawn_report(int tasks, int encodings, int seeds, const DrawAccuracy& draw) {
  Report report;
  const std::vector<std::string> splits = {"in_distribution", "ood_far", "ood_sparse"};
  for (int t = 0; t < tasks; ++t) {
    TaskBaseline& task = report.tasks.emplace_back(TaskBaseline{.task = "task" + std::to_string(t)});
    for (const std::string& split : splits)
      task.splits.push_back({split, split == splits[0] ? kIn : kOut, 0.5, {}});
    for (int e = 0; e < encodings; ++e) {
      for (int seed = 0; seed < seeds; ++seed) {
        ExperimentResult experiment{
            .id = {task.task, "encoding" + std::to_string(e), static_cast<unsigned>(seed)}};
        for (size_t s = 0; s < splits.size(); ++s) {
          const Count count{std::lround(1000 * draw(t, e, static_cast<int>(s), seed)), 1000};
          experiment.splits.push_back({splits[s], s == 0 ? kIn : kOut, 1000, count, count, {}, {}});
        }
        experiment.final_loss = 0.5;
        report.experiments.push_back(std::move(experiment));
      }
    }
  }
  return report;
}

}  // namespace posbench
