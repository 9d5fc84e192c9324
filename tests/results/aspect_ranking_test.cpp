// The ranking of encodings by aspects and a length.
#include "results/statistics/aspect_ranking.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/document/render.h"
#include "results/presentation/board_document.h"
#include "results/statistics/kept_length.h"
#include "tests/catch.h"
#include "tests/results/golden_board.h"

using namespace posbench;

namespace {

std::vector<const ExperimentResult*> experiments(const BoardReport& all, const std::string& task,
                                                 const std::string& encoding) {
  std::vector<const ExperimentResult*> found;
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == task && experiment.id.encoding == encoding) found.push_back(&experiment);
  }
  return found;
}

AspectRow row_of(const AspectRanking& ranking, const std::string& encoding) {
  for (const AspectRow& row : ranking.rows) {
    if (row.encoding == encoding) return row;
  }
  return {};
}

std::vector<std::string> names(const AspectRanking& ranking) {
  std::vector<std::string> names;
  for (const AspectRow& row : ranking.rows) names.push_back(row.encoding);
  return names;
}

}  // namespace

TEST_CASE("a length is kept if at least half of the seeds have 0.90 at that length and beyond") {
  BoardReport all = golden_board();
  const auto kept = [&](const char* task, const char* encoding, double multiple) {
    return find_kept_length(experiments(all, task, encoding), multiple, LengthBasis::splits);
  };
  CHECK(kept("task0", "alibi", 4)->is_kept);
  CHECK(kept("task0", "alibi", 4)->splits == std::vector<std::string>{"ood_far"});
  CHECK(!kept("task1", "alibi", 4)->is_kept);
  CHECK(!kept("task1", "alibi", 2)->is_kept);  // 0.69, the mean of two splits
  CHECK(!kept("task0", "alibi", 4.5));
  int changed = 0;
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task != "task0" || experiment.id.encoding != "alibi") continue;
    if (changed == 2) CHECK(kept("task0", "alibi", 4)->is_kept);
    experiment.splits[1].by_length[1].sequence = {89, 100};
    if (++changed == 3) break;
  }
  CHECK(!kept("task0", "alibi", 4)->is_kept);
}

TEST_CASE("a length is kept by a grid if it is within the effective length") {
  BoardReport all = golden_board();
  add_grids(all);
  const auto kept = [&](const char* encoding, double multiple) {
    return find_kept_length(experiments(all, "task0", encoding), multiple, LengthBasis::grid);
  };
  CHECK(kept("rope", 2)->is_kept);
  CHECK(!kept("rope", 3)->is_kept);
  CHECK(kept("rope", 2)->splits.empty());
  CHECK(kept("cope", 8)->is_kept);
  CHECK(!kept("cope", 16)->is_kept);
  for (ExperimentResult& experiment : all.report.experiments) {
    experiment.grids[0].points.resize(3);
    experiment.grids[0].end = GridEnd::task;
  }
  CHECK(!kept("cope", 3));
}

TEST_CASE("encodings are ranked by the learned tasks that they keep, then by their scores") {
  const AspectRanking ranking = rank_by_aspects(golden_board(), golden_aspects(), 4);
  CHECK(names(ranking) == std::vector<std::string>{"cope", "alibi", "rope"});
  CHECK(row_of(ranking, "cope").kept == std::vector<std::string>{"task0", "task1"});
  CHECK(row_of(ranking, "alibi").kept == std::vector<std::string>{"task0"});
  const AspectRow rope = row_of(ranking, "rope");  // it has not learned task2
  CHECK(rope.ran == 3);
  CHECK(rope.learned == 2);
  CHECK(rope.tested == 2);
  CHECK(rope.kept.empty());
  CHECK(rope.cost == 1.1);
  const AspectRanking by_score = rank_by_aspects(golden_board(), golden_aspects(), {});
  CHECK(by_score.tasks.empty());
  CHECK(by_score.rows[0].mean_score() >= by_score.rows[1].mean_score());
}

TEST_CASE("there is a ranking at a length that no task was tested at") {
  const AspectRanking ranking = rank_by_aspects(golden_board(), golden_aspects(), 1000);
  CHECK(ranking.rows.size() == 3);
  for (const AspectRow& row : ranking.rows) CHECK(row.tested == 0);
  for (const LengthTask& task : ranking.tasks) CHECK(!task.basis);
}

TEST_CASE("one rule decides on the length for all encodings of a task") {
  BoardReport all = golden_board();
  add_grids(all);
  const auto basis = [&] { return rank_by_aspects(all, golden_aspects(), 2).tasks[0].basis; };
  CHECK(basis() == LengthBasis::grid);
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == "task0" && experiment.id.encoding == "rope") experiment.grids.clear();
  }
  CHECK(basis() == LengthBasis::splits);
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == "task0" && experiment.id.encoding == "rope")
      experiment.splits[0].sequence = {0, 100};
  }
  CHECK(basis() == LengthBasis::grid);  // rope has not learned it
}

TEST_CASE("the far grid decides on the length if all that learned the task have one") {
  BoardReport all = golden_board();
  add_grids(all);
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == "task0") experiment.grids.push_back(drawn_grid(kFarGrid, {1, 0.95, 0.5}));
  }
  const AspectRanking ranking = rank_by_aspects(all, golden_aspects(), 2);
  CHECK(ranking.tasks[0].basis == LengthBasis::far_grid);
  CHECK(ranking.tasks[1].basis == LengthBasis::grid);
  CHECK(row_of(ranking, "cope").kept == std::vector<std::string>{"task1", "task2"});  // near it keeps task0, too
  const std::string text = to_markdown(make_document(ranking));
  CHECK_THAT(text, ContainsSubstring("the evidence of an answer anywhere in the sequence: task0."));
  CHECK_THAT(text, ContainsSubstring("as near as in training: task1, task2."));
  const auto first =
      std::ranges::find_if(all.report.experiments, [](const auto& e) { return e.id.task == "task0"; });
  first->grids.pop_back();
  CHECK(rank_by_aspects(all, golden_aspects(), 2).tasks[0].basis == LengthBasis::grid);
}

TEST_CASE("encodings that lack a task are left out by name, except those of the user") {
  BoardReport all = golden_board();
  std::erase_if(all.report.experiments, [](const ExperimentResult& experiment) {
    return experiment.id.encoding != "rope" && experiment.id.task == "task0";
  });
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.encoding == "cope") all.user_experiments.insert(experiment.id);
  }
  AspectRanking ranking = rank_by_aspects(all, golden_aspects(), 4);
  CHECK(ranking.incomplete == std::vector<std::string>{"alibi"});
  CHECK(names(ranking) == std::vector<std::string>{"cope", "rope"});
  CHECK(row_of(ranking, "cope").ran == 2);
  std::erase_if(all.report.experiments, [](const ExperimentResult& e) { return e.id.encoding != "alibi"; });
  ranking = rank_by_aspects(all, golden_aspects(), 4);  // now no encoding ran every task
  CHECK(names(ranking) == std::vector<std::string>{"alibi"});
  CHECK(ranking.incomplete.empty());
}
