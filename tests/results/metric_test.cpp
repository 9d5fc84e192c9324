#include "results/types/metric.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "results/document/render.h"
#include "results/presentation/compare_document.h"
#include "results/presentation/length_bins.h"
#include "results/presentation/report_table.h"
#include "results/reports/report_json.h"
#include "results/statistics/separation.h"
#include "tests/catch.h"
#include "tests/results/comparisons.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

/// One task and encoding, all right everywhere, with this loss of each seed on every split.
Report report_of_losses(const std::vector<double>& losses) {
  Report report = drawn_report(1, 1, static_cast<int>(losses.size()), [](int, int, int, int) { return 1.0; });
  for (size_t n = 0; n < losses.size(); ++n) {
    for (SplitResult& split : report.experiments[n].splits) {
      split.loss = losses[n];
      split.margin = -losses[n];
      split.token = {4, 8};
      split.by_length.clear();
      split.by_distance.clear();
      split.by_position = {{1, {3, 4}, losses[n], -losses[n]}, {2, {1, 4}, 2 * losses[n], std::nullopt}};
    }
  }
  return report;
}

}  // namespace

TEST_CASE("each metric stands at its enumerator") {
  for (size_t n = 0; n < metrics().size(); ++n) {
    CHECK(static_cast<size_t>(metrics()[n].metric) == n);
    CHECK((metrics()[n].is_accuracy || metrics()[n].guess));
  }
}

TEST_CASE("a mean over lengths weighs every length alike, however many sequences have it") {
  SplitResult split{.token = {90, 110}, .by_length = {{3, {90, 100}, {1, 1}}, {9, {0, 10}, {0, 4}}, {12, {}, {}}}};
  CHECK(*metric_info(Metric::token_over_lengths).value(split) == Approx(0.45));
  CHECK(*metric_info(Metric::sequence_over_lengths).value(split) == 0.5);
  split.by_length.clear();
  CHECK_FALSE(metric_info(Metric::token_over_lengths).value(split));
}

TEST_CASE("a lower loss is better, and a greater margin is") {
  const Report before = report_of_losses({1.0, 1.1, 0.9, 1.05, 0.95, 1.02}),
               after = report_of_losses({0.5, 0.6, 0.4, 0.55, 0.45, 0.52});
  for (const Metric metric : {Metric::loss, Metric::margin}) {
    for (const ComparisonRow& row : compare_one(before, after, {.metric = metric}).rows)
      CHECK(row.verdict == Verdict::better);
    for (const ComparisonRow& row : compare_one(after, before, {.metric = metric}).rows)
      CHECK(row.verdict == Verdict::worse);
  }
  const Comparison same = compare_one(before, before, {.metric = Metric::loss});
  CHECK(same.rows[0].verdict == Verdict::same);
  CHECK(to_json(same)["options"]["metric"] == "loss");
  CHECK(to_console_text(make_comparison_document(same)).find("mean cross-entropy in nats, mean over seeds") !=
        std::string::npos);
}

TEST_CASE("a loss is compared although nothing was learned, which accuracy asks for") {
  Report before = report_of_losses({1.0, 1.1, 0.9, 1.05, 0.95, 1.02}),
         after = report_of_losses({0.5, 0.6, 0.4, 0.55, 0.45, 0.52});
  for (Report* report : {&before, &after}) {
    for (ExperimentResult& experiment : report->experiments) {
      for (SplitResult& split : experiment.splits) split.sequence.correct = 0;
    }
  }
  const auto of = [&](Metric metric) {
    return compare_one(before, after, {.metric = metric}).rows.back().verdict;
  };
  CHECK(of(Metric::loss) == Verdict::better);
  CHECK(of(Metric::sequence) == Verdict::not_learned);
}

TEST_CASE("reports without the metric are not compared by it, and say what to do") {
  const Report with = report_of_losses({1, 2, 3, 4, 5});
  Report without = with;
  without.experiments[3].splits[1].loss.reset();
  CHECK_THROWS_WITH(compare_one(with, without, {.metric = Metric::loss}),
                    Catch::Matchers::StartsWith("after.json has no loss of split ") &&
                        Catch::Matchers::EndsWith("compare by another --metric"));
  CHECK_NOTHROW(compare_one(with, without, {}));
}

TEST_CASE(
    "an experiment that did not finish has the loss of a uniform guess, or of the worst seed if that is worse") {
  CHECK(unfinished_value(Metric::token, 0.25, std::vector{0.5}) == 0);
  CHECK(unfinished_value(Metric::loss, 0.25, std::vector{0.5, 1.0}) == Approx(std::log(4)));
  CHECK(unfinished_value(Metric::loss, 0.25, std::vector{0.5, 3.0}) == 3.0);
  CHECK(unfinished_value(Metric::margin, 0.25, std::vector{-2.0, 3.0}) == -2.0);

  Report report = report_of_losses({0.1, 0.2, 5.0});
  report.experiments[0].status = Status::failed;
  report.experiments[0].reason = "test";
  report.experiments[0].splits.clear();
  const Summary summary = summarize(report);
  CHECK(summary.rows[0].splits[0].spread(Metric::loss)->values == std::vector<double>{5.0, 0.2, 5.0});
  CHECK(summary.rows[0].out_of_distribution->spread(Metric::loss)->mean == Approx(3.4));
}

TEST_CASE("loss and margin reach summary, tables, separation and page data, and read back") {
  const Report report = report_of_losses({0.25, 0.5});
  const Summary summary = summarize(report);
  CHECK(to_console_text(accuracy_table(summary, Metric::loss)).find("0.38/0.38") != std::string::npos);
  CHECK(
      accuracy_notes(summary, Metric::loss).front() ==
      "mean cross-entropy in nats, in distribution / out of distribution, mean over seeds and splits; less is better");
  CHECK(to_csv(seed_table(report)).find(",loss,0.25,,,,,\r\n") != std::string::npos);
  const Json json = to_json(report);
  CHECK(json["summary"][0]["in_distribution"]["loss"]["mean"] == 0.375);
  CHECK(json["experiments"][0]["splits"][0]["by_position"][1]["loss"] == 0.5);
  CHECK(report_from_json(json, "test") == report);
  std::vector<const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) experiments.push_back(&experiment);
  const std::vector<LengthBin> places{{1, 1, true, "in"}, {2, 2, true, "in"}};
  const std::vector<std::string> splits{report.tasks[0].splits[0].name};
  CHECK(bin_values(places, experiments, Axis::position, splits)[0]->mean == 0.75);
  CHECK(bin_values(places, experiments, Axis::position, splits, Metric::loss)[1]->mean == 0.75);
  CHECK_FALSE(bin_values(places, experiments, Axis::position, splits, Metric::margin)[1]);
}

TEST_CASE("a report without losses has none in its summary, and says so in its table") {
  const Report report = drawn_report(1, 1, 2, [](int, int, int, int) { return 1.0; });
  const Summary summary = summarize(report);
  CHECK_FALSE(to_json(report)["summary"][0]["in_distribution"].contains("loss"));
  CHECK(to_console_text(accuracy_table(summary, Metric::loss)).find("-/-") != std::string::npos);
  CHECK(accuracy_notes(summary, Metric::loss).back() == "-: the report does not have the loss");
}

TEST_CASE("the values of a sweep are columns of the CSV and members of experiments and summary") {
  Report report = drawn_report(2, 1, 1, [](int, int, int, int) { return 1.0; });
  CHECK(to_csv(seed_table(report)).find("swept") == std::string::npos);
  report.experiments[0].swept = {
      .task = "t", .encoding = "e", .values = {{"model.width", "32"}, {"task.length", "1..4"}}};
  report.experiments[1].swept = {
      .task = "t", .encoding = "e", .values = {{"model.width", "64"}, {"task.length", "1..4"}}};
  const std::string text = to_csv(seed_table(report));
  CHECK(text.find(",swept_task,swept_encoding,model.width,task.length,split,") != std::string::npos);
  CHECK(text.find(",t,e,64,1..4,") != std::string::npos);
  const Json json = to_json(report);
  CHECK(json["summary"][1]["swept"]["values"][0] == Json{{"name", "model.width"}, {"value", "64"}});
  CHECK(report_from_json(json, "test") == report);
}

TEST_CASE("splits that changed their options are not compared under one name") {
  Report before = drawn_report(1, 1, 5, [](int, int, int, int) { return 1.0; }), after = before;
  before.tasks[0].splits[1].options.emplace()["length"] = "64";
  after.tasks[0].splits[1].options.emplace()["length"] = "128";
  before.tasks[0].splits[1].entropy = 0.5;
  CHECK_THROWS_WITH(compare_one(before, after, {}), ContainsSubstring("has other options in the second"));
  CHECK(report_from_json(to_json(before), "test") == before);
  after.tasks[0].splits[1].options.reset();  // of an older version
  CHECK_NOTHROW(compare_one(before, after, {}));
}
