// The recommendation of encodings for aspects, a length and a cost.
#include "results/statistics/recommend.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "results/presentation/recommendation_text.h"
#include "results/statistics/kept_length.h"
#include "tests/catch.h"
#include "tests/results/golden_board.h"

using namespace posbench;

namespace {

std::string recommend_text(const BoardReport& all, const Need& need) {
  const Recommendations found = recommend(all, need);
  std::string text = to_console_text(recommendation_table(found, need)) + "\n";
  for (const std::string& note : recommendation_notes(found, need)) text += note + "\n";
  return text;
}

std::vector<const ExperimentResult*> experiments(const BoardReport& all, const std::string& task,
                                                 const std::string& encoding) {
  std::vector<const ExperimentResult*> found;
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == task && experiment.id.encoding == encoding) found.push_back(&experiment);
  }
  return found;
}

}  // namespace

TEST_CASE("the recommendation of a small board has this text") {
  CHECK(recommend_text(golden_board(), {.aspects = golden_aspects()}) == golden_text("recommend.txt"));
  CHECK(recommend_text(golden_board(), {.aspects = golden_aspects(), .length = 4}) ==
        golden_text("recommend_4x.txt"));
  BoardReport all = golden_board();
  add_grids(all);
  CHECK(recommend_text(all, {.aspects = golden_aspects(), .cost = 1.5, .length = 4}) ==
        golden_text("recommend_4x_grids.txt"));
}

TEST_CASE("a cost is compared with one decimal, as tables show it") {
  BoardReport all = golden_board();
  const auto names = [&](double cost) {
    std::set<std::string> names;
    for (const Recommendation& one : recommend(all, {.aspects = golden_aspects(), .cost = cost}).encodings)
      names.insert(one.encoding);
    return names;
  };
  all.costs["cope"] = 1.24;
  CHECK(names(1.2).contains("cope"));
  all.costs["cope"] = 1.26;
  CHECK(!names(1.2).contains("cope"));
  all.costs["cope"] = 1.29;
  CHECK(!names(1.25).contains("cope"));
}

TEST_CASE("a length is kept if more than half of the seeds have 0.90 at that length and beyond") {
  BoardReport all = golden_board();
  const auto kept = [&](const char* task, const char* encoding, double multiple) {
    return find_kept_length(experiments(all, task, encoding), multiple, LengthBasis::splits);
  };
  CHECK(kept("task0", "alibi", 4)->is_kept);
  CHECK(kept("task0", "alibi", 4)->values == std::vector<double>(5, 0.95));
  CHECK(kept("task0", "alibi", 4)->splits == std::vector<std::string>{"ood_far"});
  CHECK(!kept("task1", "alibi", 4)->is_kept);
  CHECK(kept("task1", "alibi", 2)->values[0] == Approx((98 + 40) / 200.0));
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
  CHECK(kept("rope", 3)->values == std::vector<double>{0.7, 0.7, 0.7, 0.98, 0.7});
  CHECK(kept("cope", 8)->is_kept);
  CHECK(!kept("cope", 16)->is_kept);
  for (ExperimentResult& experiment : all.report.experiments) {
    experiment.grids[0].points.resize(3);
    experiment.grids[0].end = GridEnd::task;
  }
  CHECK(!kept("cope", 3));
}

TEST_CASE("one rule decides on the length for all encodings of a task") {
  BoardReport all = golden_board();
  add_grids(all);
  const auto basis = [&](const BoardReport& board) {
    return recommend(board, {.aspects = golden_aspects(), .length = 2}).lengths[0].tested[0].basis;
  };
  CHECK(basis(all) == LengthBasis::grid);
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == "task0" && experiment.id.encoding == "rope") experiment.grids.clear();
  }
  CHECK(basis(all) == LengthBasis::splits);
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task == "task0" && experiment.id.encoding == "rope")
      experiment.splits[0].sequence = {0, 100};
  }
  CHECK(basis(all) == LengthBasis::grid);
}

TEST_CASE("a cost and another aspect remove encodings and change no number of the others") {
  BoardReport all = golden_board();
  add_grids(all);
  std::erase_if(all.report.experiments, [](const ExperimentResult& experiment) {
    return experiment.id.encoding == "cope" && experiment.id.task == "task0";
  });
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.task != "task2") continue;
    if (experiment.id.encoding == "alibi") experiment.splits[0].sequence = {0, 100};  // only cope has learned it
    if (experiment.id.encoding == "cope") experiment.grids.clear();
  }
  const AspectTasks recall{"recall", {"task0", "task1"}}, counting{"counting", {"task1", "task2"}};
  const auto row = [&](const Need& need) {
    for (const Recommendation& one : recommend(all, need).encodings) {
      if (one.encoding == "alibi") return one.at_length[0];
    }
    return AtLength{};
  };
  const AtLength alone = row({.aspects = {counting}, .length = 4, .share = 0});
  REQUIRE(alone.tasks.size() == 2);
  CHECK(alone.kept == 1);
  for (const Need& need : {Need{.aspects = {counting}, .cost = 1.5, .length = 4, .share = 0},
                           Need{.aspects = {counting, recall}, .length = 4, .share = 0}}) {
    const AtLength filtered = row(need);
    CHECK(filtered.tasks.size() == 2);
    CHECK(filtered.kept == alone.kept);
    CHECK(filtered.mean == alone.mean);
  }
}

TEST_CASE("if no encoding meets the need, the closest one is named") {
  const BoardReport all = golden_board();
  const auto refusal = [&](const Need& need) {
    const Recommendations found = recommend(all, need);
    CHECK((found.encodings.empty() || !found.encodings.front().keeps_length));
    return no_recommendation_text(found, need);
  };
  CHECK(refusal({.aspects = golden_aspects(), .length = 4, .share = 1}) ==
        "none of the 3 encodings that ran every task keeps 4x on 100 % of the tasks of each aspect; the closest "
        "is cope: recall on 2 of 2 tasks, counting on 1 of 2 tasks; lower --length or --share");
  CHECK(
      refusal({.aspects = golden_aspects(), .length = 5}) ==
      "no task of the aspect 'recall' that an encoding has learned was tested at 5 times the trained length; lower "
      "--length");
  CHECK(
      refusal({.aspects = golden_aspects(), .cost = 0.5}) ==
      "no encoding of the board ran every task of these aspects at --cost 0.5; choose fewer aspects or raise --cost");
}

TEST_CASE("a recommendation states how many encodings did not run every task") {
  BoardReport all = golden_board();
  std::erase_if(all.report.experiments, [](const ExperimentResult& experiment) {
    return experiment.id.encoding == "alibi" && experiment.id.task == "task0";
  });
  const Need need{.aspects = golden_aspects()};
  const Recommendations found = recommend(all, need);
  CHECK(found.incomplete == std::vector<std::string>{"alibi"});
  CHECK(recommendation_notes(found, need)[2].starts_with("1 of 3 encodings of the board are left out, because"));
}

TEST_CASE("a recommendation names the marked tasks of its aspects, which do not count") {
  Need need{.aspects = golden_aspects()};
  need.aspects[1].marked = {"task3"};
  const Recommendations found = recommend(golden_board(), need);
  CHECK(recommendation_notes(found, need).back() ==
        "counting: task1, task2. 1 task marked control or open does not count: task3.");
  CHECK(to_json(found, need)["aspects"][1]["marked"] == Json{"task3"});
}

TEST_CASE("the JSON of a recommendation has the accuracy of each seed at the length, and its source") {
  const Need need{.aspects = golden_aspects(), .length = 4};
  const Json json = to_json(recommend(golden_board(), need), need);
  CHECK(json["length"] == 4);
  CHECK(json["aspects"][0]["at_length"][0]["splits"] == Json{"ood_far"});
  REQUIRE(json["encodings"].size() == 1);
  const Json& at = json["encodings"][0]["scores"][1]["at_length"];
  CHECK(at["kept"] == 1);
  CHECK(at["tasks"][1]["from"] == "splits");
  CHECK(at["tasks"][1]["values"].size() == 5);
  CHECK(at["tasks"][1]["kept"] == false);
}
