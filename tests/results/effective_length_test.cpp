// The effective length: its definition, its interval, its text and its JSON.
#include "results/statistics/effective_length.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/effective_length_text.h"
#include "results/presentation/report_table.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"
#include "results/statistics/compare.h"
#include "tests/catch.h"
#include "tests/results/comparisons.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

// Sequence accuracies at 1, 1.5, 2, 3, 4, 6, 8 and 16 times the trained length.
const std::vector<double> kTwice{1, 0.97, 0.9, 0.89, 0.95, 0.2, 0.1}, kAll{1, 1, 1, 1, 1, 1, 1, 0.9},
    kNone{0.85, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95}, kSix{1, 1, 1, 1, 1, 0.92, 0.4, 0.3};

/// Returns a report of one task and one encoding with a seed for each list of accuracies.
Report report_of(const std::vector<std::vector<double>>& seeds, double in_distribution = 1) {
  Report report = drawn_report(1, 1, static_cast<int>(seeds.size()),
                               [&](int, int, int split, int) { return split == 0 ? in_distribution : 0.5; });
  for (size_t seed = 0; seed < seeds.size(); ++seed)
    report.experiments[seed].grids = {drawn_grid("length", seeds[seed])};
  return report;
}

std::string text_of(const Report& report) {
  const SummaryRow row = summarize(report).rows.at(0);
  return effective_length_text(row.effective_length, row.learned);
}

Comparison compare_lengths(const Report& before, const Report& after) {
  return compare_one(before, after, {.metric = Metric::effective_length});
}

}  // namespace

TEST_CASE("a seed keeps the largest multiple up to which every multiple has 0.9 of the sequences right") {
  const auto kept = [](const std::vector<double>& accuracies) {
    return kept_multiple(drawn_grid("length", accuracies));
  };
  CHECK(kept(kTwice) == 2);  // 4x is right again, after 3x was not
  CHECK(kept(kAll) == 16);
  CHECK(kept(kNone) == 0);
  CHECK(kept(kSix) == 6);
  CHECK(kept({1, 1}) == 1.5);
  // The interval begins at a multiple whose test is above 0.9, and ends before one whose test is below it.
  const auto interval = [](double at_1_5) { return kept_interval(drawn_grid("length", {1, at_1_5})); };
  CHECK(interval(0.925) == Interval{1.5, 1.5});
  CHECK(interval(0.91) == Interval{1, 1.5});
  CHECK(interval(0.877) == Interval{1, 1.5});  // its interval of 95 % is below 0.9, and that of 99.5 % is not
  CHECK(interval(0.86) == Interval{1, 1});
}

TEST_CASE("the effective length is the largest multiple that at least half of the seeds keep") {
  CHECK(text_of(report_of({kAll, kTwice, kSix, kAll, kNone})) == "6x (<1x..>=16x; 0.98 at 4x)");
  CHECK(text_of(report_of({kAll, kAll, kAll, kTwice, kTwice})) == ">=16x (1.5x..>=16x; 0.98 at 4x)");
  // Two of four are half, as for learned tasks.
  CHECK(text_of(report_of({kAll, kAll, kTwice, kTwice})) == ">=16x? (0.98 at 4x)");
  CHECK(text_of(report_of({kAll, kTwice, kTwice, kTwice})) == "2x? (0.96 at 4x)");
  CHECK(text_of(report_of({kAll})) == ">=16x? (1.00 at 4x)");
  CHECK(text_of(report_of({{1, 1, 1}, {1, 1, 1}, {1, 0.95, 0.7}})) == ">=2x?");  // the task has no more
  CHECK(text_of(report_of({kAll, {0.99, 0.4, 0.3}})) == ">=16x? (0.50 at 4x)");  // a test that ended counts as 0
  CHECK(text_of(report_of({kAll, kAll}, 0.9)) == "not learned");
  CHECK(text_of(small_report()) == "no grid");
}

TEST_CASE("an experiment that did not finish keeps no length") {
  Report report = report_of({kAll, kAll, kTwice});
  report.experiments[0].status = Status::diverged;
  report.experiments[0].grids.clear();
  report.experiments[0].splits.clear();
  CHECK(summarize(report).rows[0].effective_length->values == std::vector<double>{0, 16, 2});
  report.experiments[1].grids.clear();  // a finished one without a grid
  CHECK_FALSE(summarize(report).rows[0].effective_length);
}

TEST_CASE("the interval of an effective length covers the median with at least nine in ten") {
  const std::map<size_t, std::pair<size_t, double>> expected{
      {5, {1, 0.9143}}, {8, {1, 0.9871}}, {9, {2, 0.9384}}, {10, {2, 0.9641}}};  // effective_length_simulation.py
  for (const auto& [count, interval] : expected) {
    CAPTURE(count);
    REQUIRE(find_order_interval(count));
    CHECK(find_order_interval(count)->k == interval.first);
    CHECK(find_order_interval(count)->coverage == Approx(interval.second).margin(2e-4));
  }
  for (const size_t count : {0, 1, 2, 3, 4}) CHECK_FALSE(find_order_interval(count));
}

TEST_CASE("the effective length is the first number of the table and has a note") {
  const Summary summary = summarize(report_of({kAll, kTwice, kSix, kSix, kNone}));
  CHECK(to_markdown(accuracy_table(summary)).find("| 6x (&lt;1x..&gt;=16x; 0.98 at 4x) 1.00/0.50 |") !=
        std::string::npos);
  CHECK(to_markdown(accuracy_table(summary, Metric::effective_length))
            .find("| 6x (&lt;1x..&gt;=16x; 0.98 at 4x) |") != std::string::npos);
  CHECK(
      accuracy_notes(summary).front() ==
      "effective length: the largest multiple of the greatest trained length that at least half of the seeds keep, "
      "with 0.90 of the sequences right there and at every smaller multiple; <1x: they do not keep the trained length; "
      ">=: no larger multiple was tested; in brackets, an interval over seeds and test samples with a coverage of at least "
      "91.4 % for 5 seeds; at 4x: the accuracy at this multiple, mean over seeds, and 0 for a seed whose test ended before, "
      "after two multiples below 0.50");
  CHECK(to_markdown(split_tables(summary).at(0).table).starts_with("| encoding | effective length | in_dist"));
  const Summary few = summarize(report_of({kAll, kTwice}, 0.5));
  CHECK(to_markdown(accuracy_table(few)).find("| 0.50/not learned |") != std::string::npos);
  CHECK(accuracy_notes(few).front().find("?: no interval, which needs five seeds") != std::string::npos);
  CHECK(accuracy_notes(few).at(2).find("so the effective length and") != std::string::npos);
}

TEST_CASE("a table has the accuracy at each multiple, as a mean and of every seed") {
  const Report report = report_of({kAll, kTwice});
  const std::vector<TaskTable> tables = length_tables(report, summarize(report));
  REQUIRE(tables.size() == 1);
  CHECK(to_csv(tables[0].table) ==
        "encoding,grid,seed,1x,1.5x,2x,3x,4x,6x,8x,16x\r\n"
        "encoding0,length,mean,1.00,0.98,0.95,0.95,0.97,0.60,0.55,0.45\r\n"
        "encoding0,length,0,1.00,1.00,1.00,1.00,1.00,1.00,1.00,0.90\r\n"
        "encoding0,length,1,1.00,0.97,0.90,0.89,0.95,0.20,0.10,0.00\r\n");
}

TEST_CASE("a length with far evidence is first, and a report without it shows the near one") {
  Report report = report_of({kAll, kAll});
  for (ExperimentResult& experiment : report.experiments) experiment.grids.push_back(drawn_grid("far", kTwice));
  const Summary summary = summarize(report);
  CHECK(effective_lengths_text(summary.rows[0]) == "far 2x? (0.95 at 4x), near >=16x");
  CHECK(headline_length(summary.rows[0])->multiple == 2);
  CHECK(accuracy_notes(summary)[1].starts_with("far: the evidence of an answer is uniformly anywhere"));
  CHECK(
      to_markdown(split_tables(summary).at(0).table).starts_with("| encoding | far | effective length | in_dist"));
  CHECK(report_from_json(to_json(report), "a.json") == report);
  const Summary near = summarize(report_of({kAll, kAll}));
  CHECK(effective_lengths_text(near.rows[0]) == ">=16x? (1.00 at 4x)");
}

TEST_CASE("the spreadsheet of seeds has the accuracy at each multiple that was tested") {
  const std::string csv = to_csv(seed_table(report_of({kTwice})));
  for (const char* values :
       {",length=1x,grid,sequence,1,", ",length=1.5x,grid,sequence,0.97,", ",length=2x,grid,sequence,0.9,"})
    CHECK(csv.find(values) != std::string::npos);
  CHECK(csv.find(",1.5\r\n") != std::string::npos);
  CHECK(csv.find("length=16x") == std::string::npos);
  CHECK(to_csv(seed_table(small_report())).find("grid") == std::string::npos);
}

TEST_CASE("the JSON of a report with grids reads back the same, and without grids it has none") {
  const Report report = report_of({kAll, kTwice, kSix, kSix, kNone});
  const Json json = to_json(report);
  CHECK(report_from_json(json, "a.json") == report);
  CHECK(json.at("summary").at(0).at("effective_length") ==
        Json{{"multiple", 6.0},
             {"interval_of_seeds_and_tests", {{"low", 0.0}, {"high", 16.0}}},
             {"coverage_of_seeds_and_tests", 0.914126},

             {"values", {16.0, 2.0, 6.0, 6.0, 0.0}},
             {"tested_to", 16.0},
             {"accuracy_at_4x", 0.98}});
  CHECK(to_compact_json(to_json(small_report())).find("effective") == std::string::npos);
  CHECK(to_compact_json(to_json(small_report())).find("grid") == std::string::npos);
  const Json unlearned = to_json(report_of({kAll}, 0.5)).at("summary").at(0).at("effective_length");
  CHECK(unlearned.at("multiple").is_null());
  CHECK(unlearned.at("interval_of_seeds_and_tests").is_null());
}

TEST_CASE("a grid whose numbers contradict each other is refused") {
  ExperimentResult experiment = small_report().experiments[0];
  experiment.grids = {drawn_grid("length", kTwice)};
  const Json json = to_json(experiment);
  const auto refused = [&](const std::string& operations, const std::string& message) {
    INFO(operations);
    CHECK_THROWS_WITH(experiment_from_json(json.patch(Json::parse("[" + operations + "]")), "a.json"),
                      ContainsSubstring("a.json: " + message));
  };
  const auto with = [&](const std::string& place, const std::string& value, const std::string& message) {
    refused(R"({"op": "replace", "path": "/grid/0/)" + place + R"(", "value": )" + value + "}",
            "grid[0]." + message);
  };
  with("points/1/multiple", "1", "points[1].multiple is 1, not more than the multiple before it, 1");
  with("points/1/value", "10", "points[1].value is 10, not more than the value before it, 10");
  with("points/0/sequence/correct", "1001", "points[0].sequence.correct is 1001, more than its total, 1000");
  with("points/0/sequence/accuracy", "0.5", "points[0].sequence.accuracy is 0.5, expected 1");
  with("points/0/sequences", "999",
       "points[0].sequence.total is 1000, more than the sequences of its multiple, 999");
  with("end", R"("complete")", "end is \"complete\", expected 'accuracy' if the last two multiples are below 0.5");
  const std::string shorter = R"({"op": "remove", "path": "/grid/0/points/6"})";
  refused(shorter, "grid[0].end is \"accuracy\"");
  refused(shorter + R"(, {"op": "replace", "path": "/grid/0/end", "value": "task"})",
          "grid[0].end is \"task\", which needs a 'reason'");
  refused(R"({"op": "copy", "from": "/grid/0", "path": "/grid/1"})",
          "grid[1].option is \"length\", the option of an earlier grid too");
  refused(
      R"({"op": "replace", "path": "/status", "value": "failed"}, {"op": "add", "path": "/reason", "value": "x"},
             {"op": "replace", "path": "/splits", "value": []})",
      "grid is a list, expected no grid, as the experiment is failed");
}

TEST_CASE("compare tests effective lengths, and gives no verdict where a task is not learned") {
  const Report before = report_of({kTwice, kTwice, kTwice, kTwice, kTwice}),
               after = report_of({kAll, kAll, kAll, kAll, kAll});
  const Comparison comparison = compare_lengths(before, after);
  REQUIRE(comparison.rows.size() == 1);
  const ComparisonRow& row = comparison.rows[0];
  CHECK(row.split == "length");
  CHECK(row.before.mean == 2);
  CHECK(row.after.mean == 16);
  CHECK(row.before.solved == Count{0, 5});
  CHECK(row.after.solved == Count{5, 5});
  CHECK(row.verdict == Verdict::better);
  CHECK(compare_lengths(after, before).rows[0].verdict == Verdict::worse);
  CHECK(compare_lengths(before, report_of({kAll, kAll, kAll, kAll, kAll}, 0.5)).rows[0].verdict ==
        Verdict::not_learned);
  CHECK(compare_lengths(before, before).rows[0].verdict == Verdict::same);
}

TEST_CASE("compare by effective length refuses a report without grids") {
  const Report with = report_of({kAll, kAll});
  Report without = with;
  for (ExperimentResult& experiment : without.experiments) experiment.grids.clear();
  CHECK_THROWS_WITH(compare_lengths(with, without),
                    "after.json has no grid of lengths, from which effective lengths follow; run it with --set "
                    "evaluation.grid=256, or compare by another --metric");
  Report partly = with;
  partly.experiments[1].grids.clear();
  CHECK_THROWS_WITH(compare_lengths(with, partly),
                    "after.json has no grid by length of 'task0' by 'encoding0'; run it with --set "
                    "evaluation.grid=256, or compare by another --metric");
}
