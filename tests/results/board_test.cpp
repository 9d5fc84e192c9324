#include "results/statistics/board.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "results/document/render.h"
#include "results/presentation/board_document.h"
#include "results/presentation/board_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/reports/cost_json.h"
#include "results/statistics/over_tasks.h"
#include "results/statistics/tiers.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

using Tiers = std::vector<std::optional<int>>;

Tiers tiers(const std::vector<std::vector<double>>& values) { return find_tiers(values); }

/// Encodings 0 to 3 have learned the task: the first two keep it, the third loses it, the fourth has few seeds;
/// encoding 4 has not learned it.
double accuracy_of(int, int encoding, int split, int seed) {
  const double noise = 0.001 * seed;
  if (encoding == 4) return split == 0 ? 0.5 + noise : 0.9;
  if (split == 0) return 1;
  return encoding < 2 || encoding == 3 ? 0.95 + noise : 0.3 + noise;
}

Report stored_report() {
  Report report = drawn_report(2, 5, 5, accuracy_of);
  std::erase_if(report.experiments,
                [](const ExperimentResult& e) { return e.id.encoding == "encoding3" && e.id.seed == 4; });
  for (ExperimentResult& e : report.experiments)
    e.steps = e.id.encoding == "encoding1" ? 700 : 1000;  // it stops early
  return report;
}

/// The times of its experiments: `seconds` for each step of the n-th encoding, of 100 steps.
void add_times(Report& report, const std::map<std::string, double>& seconds) {
  for (ExperimentResult& e : report.experiments) {
    e.steps = 100;
    report.timing["experiments"].push_back({{"task", e.id.task},
                                            {"encoding", e.id.encoding},
                                            {"seed", e.id.seed},
                                            {"seconds", 100 * seconds.at(e.id.encoding)}});
  }
}

const BoardTexts kWords{.about = [](const std::string& task) { return "About " + task + "."; },
                        .family = [](const std::string&) { return "bias"; },
                        .cost_source = "measured here"};

}  // namespace

TEST_CASE("a tier ends where the seeds tell an encoding from the best") {
  // Against the first, the second has p = 1 and the others 2 in 252, the smallest that five seeds can have.
  CHECK(tiers({{1, 1, 1, 1, 1}, {1, 1, 1, 1, 0.9}, {0.5, 0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5, 0.4}}) ==
        Tiers{1, 1, 2, 2});
  CHECK(tiers({{0.2, 0.2, 0.2, 0.2, 0.2}, {1, 1, 1, 1, 1}, {0.6, 0.6, 0.6, 0.6, 0.6}}) == Tiers{3, 1, 2});
  // One of five seeds fails: 5 against 4 right has p = 1; 5 against 1 right, 12 in 252.
  CHECK(tiers({{1, 1, 1, 1, 1}, {1, 1, 1, 1, 0}}) == Tiers{1, 1});
  CHECK(tiers({{1, 1, 1, 1, 1}, {1, 0, 0, 0, 0}}) == Tiers{1, 2});
  CHECK(tiers({{1, 1, 1, 1, 1}, {1, 1, 0, 0, 0}}) == Tiers{1, 1});
}

TEST_CASE("means that are less than 0.02 apart share a tier even if the difference is significant") {
  CHECK(tiers({std::vector<double>(5, 0.95), std::vector<double>(5, 0.9301)}) == Tiers{1, 1});
  CHECK(tiers({std::vector<double>(5, 0.95), std::vector<double>(5, 0.93)}) == Tiers{1, 2});
}

TEST_CASE("nine encodings that fail are all told from the best by five seeds") {
  std::vector<std::vector<double>> values(10, std::vector<double>(5, 0.1));
  values[0].assign(5, 0.9);
  Tiers expected(10, 2);
  expected[0] = 1;
  CHECK(tiers(values) == expected);
}

TEST_CASE("a significant pair makes no tier if the encodings together are no more apart than relabeled ones") {
  // The second differs from the first with p = 2 in 252, but the bimodal two vary as much as all differ.
  const std::vector<double> best(5, 0.9), lower(5, 0.8), bimodal{1, 1, 1, 1, 0};
  CHECK(tiers({best, lower}) == Tiers{1, 2});
  CHECK(tiers({best, lower, bimodal, bimodal}) == Tiers{1, 1, 1, 1});
}

TEST_CASE("an encoding with one seed too few is in no tier, and does not begin one") {
  CHECK(tiers({{1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5, 0.5}}) == Tiers{std::nullopt, 1});
  CHECK(tiers({{1, 1, 1, 1}}) == Tiers{std::nullopt});
  CHECK(tiers({}).empty());
}

TEST_CASE("equal encodings are split into tiers in about one family of twenty, or less") {
  Rng rng = make_rng(1, "tiers");
  int split_bimodal = 0, split_normal = 0;
  constexpr int kFamilies = 150;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<std::vector<double>> bimodal(7, std::vector<double>(5)), normals = bimodal;
    for (auto& values : bimodal) {
      for (double& value : values)
        value = bernoulli(rng, 0.5) ? 1 - 0.02 * uniform_real(rng) : 0.2 * uniform_real(rng);
    }
    for (auto& values : normals) {
      for (double& value : values) value = 0.5 + 0.05 * normal(rng);
    }
    for (const auto& tier : tiers(bimodal)) split_bimodal += tier == 2 ? 1 : 0;
    const Tiers of_normals = tiers(normals);
    split_normal += std::find(of_normals.begin(), of_normals.end(), std::optional(2)) != of_normals.end();
  }
  CHECK(split_normal <= 13);       // 5 % of 150 are 7.5; more than 13 has a probability of 0.02
  CHECK(split_bimodal <= 6 * 13);  // encodings
}

TEST_CASE("the board has tiers, then few seeds, then what was not learned, with costs") {
  const Report stored = stored_report();
  const BoardReport all =
      merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {{"encoding0", 1.5}}, false);
  const Board board = make_board(all);
  REQUIRE(board.tasks.size() == 2);
  const BoardTask& task = board.tasks[0];
  CHECK(task.splits == std::vector<std::string>{"ood_far", "ood_sparse"});
  REQUIRE(task.rows.size() == 5);
  std::vector<std::string> order, standings;
  for (const BoardRow& row : task.rows) order.push_back(row.encoding), standings.push_back(status_text(row));
  CHECK(order == std::vector<std::string>{"encoding0", "encoding1", "encoding2", "encoding3", "encoding4"});
  CHECK(standings == std::vector<std::string>{"tier 1", "tier 1", "tier 2", "too few seeds", "not learned"});
  CHECK(task.rows[0].mean == Approx(0.952));
  CHECK(task.rows[0].cost == 1.5);
  CHECK(!task.rows[1].cost);
  CHECK(
      task_summary_text(task, board.options) ==
      "4 of 5 encodings learn it in distribution within 1000 steps; 3 have 0.90 or more of sequence accuracy, out of "
      "distribution: encoding0, encoding1, encoding3.");
}

TEST_CASE("encodings that have not learned a task are ordered by their accuracy in distribution") {
  const Report stored = drawn_report(
      1, 2, 5, [](int, int encoding, int split, int) { return (split == 0) == (encoding == 1) ? 0.6 : 0.3; });
  const Board board = make_board(merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {}, false));
  CHECK(board.tasks[0].rows[0].encoding == "encoding1");
  CHECK(board.tasks[0].rows[1].mean > board.tasks[0].rows[0].mean);
}

TEST_CASE("an encoding whose seeds differ too much to tell it from better ones is marked in its tier") {
  const auto accuracy = [](int, int encoding, int split, int seed) {
    if (split == 0 || encoding == 0) return 1.0;
    return encoding == 1 ? 0.9 : seed < 2 ? 1.0 : 0.1;
  };
  const Report stored = drawn_report(1, 3, 5, accuracy);
  const Board board =
      make_board(merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {{"encoding2", 1.5}}, false));
  const std::vector<BoardRow>& rows = board.tasks[0].rows;
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].encoding == "encoding2");
  CHECK(rows[1].tier == 1);
  CHECK(rows[1].unsettled);
  CHECK(!rows[0].unsettled);
  CHECK(rows[2].tier == 2);
  CHECK(!rows[2].unsettled);
  CHECK(board_table(board.tasks[0]).rows[1][1].text == "1 ?");
  CHECK(to_json(board, kWords, {}).at("tasks").at(0).at("rows").at(1).at("unsettled") == true);
}

TEST_CASE("the summary counts who has learned each task and who keeps it, and names the best") {
  const Report stored = stored_report();
  const Board board = make_board(merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {}, false));
  const Table table = board_summary(board);
  REQUIRE(table.rows.size() == 2);
  std::vector<std::string> cells;
  for (const Cell& cell : table.rows[0]) cells.push_back(cell.text);
  CHECK(cells == std::vector<std::string>{"task0", "4 of 5", "encoding0 +1", "no grid", "0.95", "3", "1000"});
  const Json task = to_json(board, kWords, {}).at("tasks").at(0);
  CHECK(task.at("learned") == 4);
  CHECK(task.at("encodings") == 5);
  CHECK(task.at("keep") == Json{"encoding0", "encoding1", "encoding3"});
  CHECK(task.at("best") == "encoding0");
}

TEST_CASE("the board has the effective lengths of reports with grids, and says where there is none") {
  Report stored = stored_report();
  for (ExperimentResult& experiment : stored.experiments) {
    if (experiment.id.task == "task0") experiment.grids = {drawn_grid("length", {1, 1, 1, 0.2, 0.1})};
  }
  const Board board = make_board(merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {}, false));
  const Table summary = board_summary(board);
  CHECK(summary.rows[0][3].text == "2x (0.10 at 4x)");
  CHECK(summary.rows[1][3].text == "no grid");
  CHECK(board_table(board.tasks[0]).rows[0][2].text == "2x (2x..2x; 0.10 at 4x)");
  const Json row = to_json(board, kWords, {}).at("tasks").at(0).at("rows").at(0);
  CHECK(row.at("effective_length") ==
        Json{{"multiple", 2}, {"low", 2}, {"high", 2}, {"tested_to", 4}, {"accuracy_at_4x", 0.1}});
  CHECK(board_csv(board, kWords).rows[0][17].text == "2");
}

TEST_CASE("a marked task shows its mark if no encoding has learned it, and the notes explain the mark") {
  const auto accuracy = [](int task, int, int split, int) { return split == 0 && task == 1 ? 0.5 : 1.0; };
  const Report stored = drawn_report(3, 2, 5, accuracy);
  BoardReport all = merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {}, false);
  CHECK(board_summary(make_board(all)).rows[1][1].text == "0 of 2");
  all.find_mark = [](const std::string& task) {
    return task == "task1" ? "open" : task == "task2" ? "control" : "";
  };
  const Board board = make_board(all);
  const Table table = board_summary(board);
  CHECK(table.rows[0][1].text == "2 of 2");
  CHECK(table.rows[1][1].text == "open");
  CHECK(table.rows[2][1].text == "2 of 2");
  CHECK(task_summary_text(board.tasks[1], {}).starts_with("Marked open: 0 of 2 encodings learn it"));
  const Json tasks = to_json(board, kWords, {}).at("tasks");
  CHECK(tasks.at(0).at("mark").is_null());
  CHECK(tasks.at(1).at("mark") == "open");
}

TEST_CASE("one split decides where it is named, and in distribution nothing is unlearned") {
  const Report stored = stored_report();
  const BoardReport all = merge_board(std::vector<NamedReport>{{"stored", stored}}, {}, {}, false);
  const Board far = make_board(all, {.split = "ood_far"});
  CHECK(split_title(far.tasks[0]) == "ood_far");
  CHECK(far.tasks[0].rows.back().status == Verdict::not_learned);
  const Board trained = make_board(all, {.split = "in_distribution"});
  CHECK(trained.tasks[0].rows.back().status == Verdict::too_few_seeds);
  CHECK(trained.tasks[0].rows[3].encoding == "encoding4");
  CHECK(trained.tasks[0].rows[3].tier == 2);
  CHECK(make_board(all, {.split = "ood_near"}).tasks.empty());
}

TEST_CASE(
    "own reports join the board, are named where the board has the encoding, and get costs from their times") {
  const Report stored = stored_report();
  Report own = drawn_report(
      1, 3, 5, [](int, int encoding, int split, int) { return split == 0 || encoding == 1 ? 1.0 : 0.5; });
  for (ExperimentResult& e : own.experiments) {
    if (e.id.encoding == "encoding1") e.id.encoding = "mine";
  }
  add_times(own, {{"encoding0", 0.3}, {"mine", 0.4}, {"encoding2", 0.9}});
  const BoardReport all =
      merge_board(std::vector<NamedReport>{{"stored", stored}}, std::vector<NamedReport>{{"runs/own", own}},
                  {{"encoding0", 1.5}, {"encoding2", 3}}, false);
  const BoardTask task = make_board(all).tasks[0];
  REQUIRE(task.rows.size() == 8);
  CHECK(task.rows[0].encoding == "mine");
  CHECK(task.rows[0].is_users);
  CHECK(task.rows[0].tier == 1);
  // 0.4 s, where a step of plain attention takes 0.3 / 1.5 and 0.9 / 3 s, by the known costs
  CHECK(*task.rows[0].cost == Approx(0.4 / 0.25));
  const auto again = std::find_if(task.rows.begin(), task.rows.end(),
                                  [](const BoardRow& row) { return row.encoding == "encoding0 (runs/own)"; });
  REQUIRE(again != task.rows.end());
  CHECK(again->cost == 1.5);
  CHECK(make_board(all).tasks[1].rows.size() == 5);
  const std::vector<NamedReport> twice{{"runs/own", own}, {"runs/own", own}};
  CHECK_THROWS_WITH(merge_board(std::vector<NamedReport>{{"stored", stored}}, twice, {}, false),
                    ContainsSubstring("is also in an earlier report under the same name; give each once"));
}

TEST_CASE("a report of another budget or version joins the board only where that is allowed") {
  const Report stored = stored_report();
  Report own = drawn_report(1, 1, 5, [](int, int, int, int) { return 1.0; });
  own.config = {{"training", {{"steps", 7}}}};
  const std::vector<NamedReport> board{{"stored", stored}}, mine{{"own", own}};
  CHECK_THROWS_WITH(merge_board(board, mine, {}, false), ContainsSubstring("config.training"));
  CHECK(merge_board(board, mine, {}, true).user_experiments.size() == 5);
  own.tasks[0].version = 2;
  for (ExperimentResult& e : own.experiments) e.task_version = 2;
  CHECK_THROWS_WITH(merge_board(board, mine, {}, true), ContainsSubstring("task 'task0' has version 1"));
}

TEST_CASE("an encoding of bidirectional models has another name on the board than that of causal ones") {
  const Report stored = stored_report();
  Report own = drawn_report(1, 1, 5, [](int, int, int, int) { return 1.0; });
  own.config = {{"model", {{"attention", "bidirectional"}}}};
  const BoardReport all =
      merge_board(std::vector<NamedReport>{{"stored", stored}}, std::vector<NamedReport>{{"own", own}}, {}, true);
  CHECK(all.user_experiments.begin()->encoding == "encoding0 (bidirectional)");
}

TEST_CASE("other models change no row, tier, count, card or recommendation of the encodings") {
  Report stored = stored_report();
  stored.config = {{"model", {{"layers", 2}}}};
  Report lstm =
      drawn_report(3, 1, 3, [](int task, int, int split, int) { return task == 1 || split == 1 ? 0.5 : 1.0; });
  lstm.config = {{"model", {{"layers", 2}, {"block", "lstm"}}}};
  add_times(lstm, {{"encoding0", 0.3}});
  const BoardLookups lookups{.other_model_of = [](const Report& report) -> std::optional<OtherModel> {
    OtherModel found{"", "encoding0", report.config.at("model")};
    found.name = found.settings.value("block", std::string());
    if (found.name.empty()) return std::nullopt;
    found.settings.erase("block");
    return found;
  }};
  const std::vector<NamedReport> alone{{"stored", stored}}, both{{"stored", stored}, {"lstm", lstm}};
  const Costs costs{{"encoding0", 1.5}};
  const BoardReport merged = merge_board(both, {}, costs, false, lookups);
  const Board before = make_board(merge_board(alone, {}, costs, false, lookups)), after = make_board(merged);
  const Json json_before = to_json(before, kWords, {}), json_after = to_json(after, kWords, {});
  REQUIRE(after.tasks.size() == 2);
  CHECK(merged.report.tasks == stored.tasks);
  CHECK(merged.report.experiments == stored.experiments);
  for (size_t n = 0; n < 2; ++n) {
    const BoardTask& task = after.tasks[n];
    for (const char* key : {"rows", "learned", "encodings", "keep", "best", "steps"})
      CHECK(json_before["tasks"][n][key] == json_after["tasks"][n][key]);
    REQUIRE(task.other_models.size() == 1);
    CHECK(task.other_models[0].encoding == "lstm");
    CHECK(task.other_models[0].values == std::vector<double>(3, n == 0 ? 0.75 : 0.5));
    CHECK_FALSE(task.other_models[0].tier);
    CHECK_FALSE(task.other_models[0].cost);
  }
  CHECK(to_json(summarize_over_tasks(before)) == to_json(summarize_over_tasks(after)));

  CHECK(learned_by_text(after.tasks[0]) == "4 of 5, lstm");
  CHECK(learned_by_text(after.tasks[1]) == "4 of 5");
  CHECK(task_summary_text(after.tasks[0], {}) ==
        task_summary_text(before.tasks[0], {}) + " Other models that learn it: lstm.");
  CHECK(board_table(after.tasks[0]).rows.back()[1].text == "other model");
  CHECK(json_after["tasks"][1]["other_models"][0]["standing"] == "other model, not learned");
  CHECK(board_csv(after, kWords).rows.size() == board_csv(before, kWords).rows.size() + 2);
  const auto shows = [](const std::string&, const std::string& encoding) { return encoding == "lstm"; };
  CHECK_THAT(to_html(make_board_document(merged, make_board(merged), kWords, shows)),
             ContainsSubstring("\"other model, not learned\""));

  CHECK(merged.warnings ==
        std::vector<std::string>{"no encoding of the board ran task2, so the board does not show "
                                 "the other models on it"});
}

TEST_CASE("stored reports pool the seeds of an encoding") {
  const Report all = stored_report();
  Report first = all, second = all;
  std::erase_if(first.experiments, [](const ExperimentResult& e) { return e.id.seed >= 3; });
  std::erase_if(second.experiments, [](const ExperimentResult& e) { return e.id.seed < 2; });
  const std::vector<NamedReport> stored{{"first", first}, {"second", second}};
  CHECK(make_board(merge_board(stored, {}, {}, false)).tasks[0].rows[0].values.size() == 5);
}

TEST_CASE("costs are read from what posbench bench writes") {
  const auto read = [](const std::string& benchmarks) {
    return read_costs(
        parse_json(R"({"context": {"cpu": "C", "instruction_set": "v4", "commit": "1a2b"}, "benchmarks": [)" +
                       benchmarks + "]}",
                   "cost.json"),
        "cost.json");
  };
  const MeasuredCosts costs = read(R"({"size": "quick", "length": 64, "encoding": "rope", "relative_cost": 1.25},
                                      {"size": "che", "length": 40, "encoding": "rope", "relative_cost": 9})");
  CHECK(costs.costs == Costs{{"rope", 1.25}});
  CHECK(costs.source == "posbench bench, size quick, length 64, on C (v4)");
  CHECK_THROWS_WITH(read(""), "cost.json: benchmarks is a list, expected one measurement or more");
  CHECK_THROWS_WITH(read(R"({"size": "quick", "length": 64, "encoding": "rope", "relative_cost": 0})"),
                    Catch::Matchers::StartsWith("cost.json: benchmarks[0].relative_cost is 0"));
}
