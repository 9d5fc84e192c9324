// The summary of a board over its tasks.
#include "results/statistics/over_tasks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/presentation/over_tasks_text.h"
#include "results/statistics/board.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

/// Four tasks, three encodings. No encoding learns task 3, and encoding 2 does not learn task 2. Out of
/// distribution encoding 0 has 0.9, encoding 1 has 0.5, encoding 2 has 0.1.
BoardReport drawn_board() {
  BoardReport all;
  all.report = drawn_report(4, 3, 4, [](int task, int encoding, int split, int) {
    if (split == 0) return task == 3 || (task == 2 && encoding == 2) ? 0.5 : 1.0;
    return 0.9 - 0.4 * encoding;
  });
  return all;
}

}  // namespace

TEST_CASE("the summary over tasks has the tasks that an encoding has learned, and names the others") {
  const OverTasks over = summarize_over_tasks(make_board(drawn_board()));
  CHECK(over.tasks == std::vector<std::string>{"task0", "task1", "task2"});
  CHECK(over.unlearned == std::vector<std::string>{"task3"});
  CHECK(over.incomplete.empty());
  REQUIRE(over.rows.size() == 3);
  CHECK(over.rows[0].encoding == "encoding0");
  CHECK(over.rows[0].interquartile_mean.value == Approx(0.9));
  CHECK(over.rows[2].interquartile_mean.value == Approx(0.1));
  CHECK(over.rows[2].learned == std::vector<bool>{true, true, false});
  const PairOverTasks pair = compare_over_tasks(over.rows[0], over.rows[2]);
  CHECK(pair.tasks == 2);  // that both have learned
  CHECK(pair.first_is_better->value == 1);
  CHECK(over.rows[1].profile[9] == 1);   // above 0.45
  CHECK(over.rows[1].profile[10] == 0);  // not above 0.5
}

TEST_CASE("the summary over tasks leaves out marked tasks, learned or not, and names them") {
  BoardReport all = drawn_board();
  all.find_mark = [](const std::string& task) {
    return task == "task1" ? "open" : task == "task3" ? "control" : "";
  };
  OverTasks over = summarize_over_tasks(make_board(all));
  CHECK(over.tasks == std::vector<std::string>{"task0", "task2"});
  CHECK(over.common == over.tasks);
  CHECK(over.marked == std::vector<std::string>{"task1", "task3"});
  CHECK(over.unlearned.empty());
  REQUIRE(over.rows.size() == 3);
  CHECK(over.rows[2].learned == std::vector<bool>{true, false});
  CHECK(to_json(over)["marked"] == Json{"task1", "task3"});
  all.find_mark = [](const std::string&) { return "open"; };
  over = summarize_over_tasks(make_board(all));
  CHECK(over.rows.empty());
}

TEST_CASE("an encoding that lacks a task is left out of the summary over tasks by name") {
  BoardReport all = drawn_board();
  std::erase_if(all.report.experiments, [](const ExperimentResult& experiment) {
    return experiment.id.encoding == "encoding1" && experiment.id.task == "task0";
  });
  const OverTasks over = summarize_over_tasks(make_board(all));
  CHECK(over.incomplete == std::vector<std::string>{"encoding1"});
  CHECK(over.rows.size() == 2);
}

TEST_CASE("a task that only the user's report has does not count in the summary over tasks") {
  BoardReport all = drawn_board();
  all.stored_tasks = {"task1", "task2", "task3"};
  const OverTasks over = summarize_over_tasks(make_board(all));
  CHECK(over.tasks == std::vector<std::string>{"task1", "task2"});
  CHECK(over.users == std::vector<std::string>{"task0"});
}

TEST_CASE("the rows that a board shows do not change the tasks of the summary") {
  Board board = make_board(drawn_board());
  for (BoardTask& task : board.tasks)
    std::erase_if(task.rows, [](const BoardRow& row) { return row.encoding != "encoding2"; });
  const OverTasks over = summarize_over_tasks(board);
  CHECK(over.tasks.size() == 3);
  REQUIRE(over.rows.size() == 1);
  CHECK(over.rows[0].interquartile_mean.value == Approx(0.1));
}
