#include "results/statistics/summary.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "results/reports/report_json.h"
#include "results/statistics/proportion.h"
#include "results/statistics/separation.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

Curve curve(std::initializer_list<std::pair<int, double>> accuracies, std::int64_t total = 100) {
  Curve curve;
  for (const auto& [length, accuracy] : accuracies) {
    curve[length] = {std::lround(accuracy * static_cast<double>(total)), total};
  }
  return curve;
}

}  // namespace

TEST_CASE("a summary holds mean, values and interval over seeds for every split") {
  const Report report = drawn_report(1, 1, 3, [](int, int, int split, int seed) {
    return split == 0 ? 1.0 : split == 1 ? 0.9 + 0.05 * seed : seed == 2 ? 0.985 : 0.5;
  });
  const SummaryRow row = summarize(report).rows.at(0);
  CHECK(row.seeds == std::vector<std::uint64_t>{0, 1, 2});
  REQUIRE(row.splits.size() == 3);
  CHECK(row.splits[1].sequence.values == std::vector<double>{0.9, 0.95, 1});
  CHECK(row.splits[1].sequence.mean == Approx(0.95));
  CHECK(row.splits[1].sequence.interval == bounded_mean_interval(std::vector{0.9, 0.95, 1.0}));
  CHECK(row.splits[1].solved == Approx(1.0 / 3));
  CHECK(row.splits[1].solved_interval == clopper_pearson_interval({1, 3}));
  CHECK(row.in_distribution->solved == 1);
  CHECK(row.out_of_distribution->sequence.mean == Approx((0.7 + 0.725 + 0.9925) / 3));
  CHECK(row.out_of_distribution->sequence.values[2] == Approx(0.9925));
  CHECK(row.out_of_distribution->solved == 0);  // no seed solves both
}

TEST_CASE("an accuracy of exactly 0.99 counts as solved in a summary") {
  const Report report = drawn_report(1, 1, 4, [](int, int, int, int seed) { return 0.988 + 0.001 * seed; });
  CHECK(summarize(report).rows.at(0).splits.at(0).solved == 0.5);
}

TEST_CASE("one seed has no interval") {
  const Summary summary = summarize(drawn_report(1, 1, 1, [](int, int, int, int) { return 0.5; }));
  CHECK(!summary.rows[0].in_distribution->sequence.interval);
}

TEST_CASE("a summary has the number of seeds that learned their task, and the gain of late training") {
  Report report =
      drawn_report(1, 1, 3, [](int, int, int split, int seed) { return split == 0 && seed > 0 ? 0.96 : 0.4; });
  CHECK(!summarize(report).rows[0].learned.late_gain);
  report.experiments[0].learning_curve = {{10, 1, 0, 0.1}, {50, 1, 0, 0.2}, {100, 1, 0, 0.8}};
  report.experiments[1].learning_curve = {{100, 1, 0, 1}};  // one point has no gain
  const Learned learned = summarize(report).rows[0].learned;
  CHECK(learned.seeds == Count{2, 3});
  CHECK(learned.by_half_the_seeds());
  CHECK(*learned.late_gain == Approx(0.8 - (0.2 + 0.6 / 5)));  // from step 60, between two points
}

TEST_CASE("an extension has learned its task if the model that it extends has") {
  Report report = drawn_report(1, 2, 3, [](int, int encoding, int split, int seed) {
    return split > 0 ? 0.8 : encoding == 0 ? (seed == 0 ? 0.5 : 1.0) : 0.3;
  });
  CHECK(!summarize(report).rows[1].learned.by_half_the_seeds());
  for (ExperimentResult& experiment : report.experiments) {
    if (experiment.id.encoding == "encoding1")
      experiment.extended = Extended{.parent = "encoding0", .encoding = "none"};
  }
  CHECK(summarize(report).rows[1].learned.seeds == Count{2, 3});
  std::erase_if(report.experiments, [](const ExperimentResult& e) { return e.id.encoding == "encoding0"; });
  CHECK(summarize(report).rows[0].learned.seeds == Count{0, 3});  // without the parent its own
}

TEST_CASE("a distance counts in splits of the trained length only") {
  Report report = drawn_report(1, 1, 1, [](int, int, int, int) { return 1.0; });
  std::vector<SplitResult>& splits = report.experiments[0].splits;
  for (SplitResult& split : splits) split.by_length = {{32, {100, 100}, {100, 100}}};
  splits[0].by_distance = {{3, {50, 50}}};
  splits[1].by_distance = {{20, {50, 50}}};
  splits[2].by_length = {{128, {0, 100}, {0, 100}}};  // fails by its length, at every distance
  splits[2].by_distance = {{10, {0, 50}}, {90, {0, 50}}};
  const SummaryRow row = summarize(report).rows[0];
  CHECK(!row.distance->at);
  CHECK(row.distance->tested_to == 20);
  CHECK(row.length->at == 128);
}

TEST_CASE("accuracy above trivial is 0 at the best trivial predictor and 1 at perfection") {
  const auto above = [](double accuracy, double chance, double constant) {
    Report report = drawn_report(1, 1, 1, [&](int, int, int, int) { return accuracy; });
    report.tasks[0].splits[0].chance = chance;
    report.tasks[0].splits[0].trivial = {{"constant", constant}, {"position", 0.1}};
    return summarize(report).rows[0].in_distribution->above_trivial.mean;
  };
  CHECK(above(0.9, 0.5, 0.8) == Approx(0.5));
  CHECK(above(0.9, 0.8, 0.5) == Approx(0.5));
  CHECK(above(0.8, 0.5, 0.8) == 0);
  CHECK(above(0.3, 0.5, 0.8) == 0);
  CHECK(above(1, 0.5, 0.8) == 1);
  CHECK(above(1, 1, 1) == 0);    // nothing is above 1
  CHECK(above(1, 0.5, 1) == 1);  // the predictor sees what determines the answer
}

TEST_CASE("an experiment that did not finish counts as nothing right, and is counted") {
  const Summary summary = summarize(small_report());
  const SummaryRow* row = find_row(summary, "counting", "cope:positions=16");
  REQUIRE(row);
  CHECK(row->diverged == 1);
  CHECK(row->failed == 0);
  CHECK(row->in_distribution->sequence.values == std::vector<double>{1, 0});
  CHECK(row->in_distribution->solved == 0.5);
  CHECK(row->in_distribution->above_trivial.mean == 0.5);
  CHECK(row->length->at == 3);  // half of the seeds have nothing right at any length
  CHECK(find_row(summary, "counting", "rope")->failed == 1);
  CHECK(!find_row(summary, "counting", "rope")->length);
  CHECK(find_row(summary, "counting", "alibi") == nullptr);
}

TEST_CASE("rows follow the report's tasks, then its encodings") {
  std::vector<std::string> names;
  for (const SummaryRow& row : summarize(small_report()).rows) names.push_back(row.task + " " + row.encoding);
  CHECK(names == std::vector<std::string>{"flip_flop:length=9 cope:positions=16", "flip_flop:length=9 rope",
                                          "counting cope:positions=16", "counting rope"});
}

TEST_CASE("a length that two splits test counts as in the first; distances count at trained lengths only") {
  // small_report(): length 9 is right in distribution and, for rope, 1080 of 1280 out of it.
  const Summary summary = summarize(small_report());
  const SummaryRow* rope = find_row(summary, "flip_flop:length=9", "rope");
  CHECK(!rope->length->at);
  CHECK(rope->length->tested_to == 10);
  // Distance 8 is tested in longer sequences only, where a wrong answer may be due to the length.
  CHECK(!rope->distance->at);
  CHECK(rope->distance->tested_to == 4);
}

TEST_CASE("a threshold length is the first at which accuracy is below 90 %") {
  const auto at = [](const Curve& curve) { return find_threshold_length({curve})->at; };
  CHECK(at(curve({{10, 1}, {20, 0.95}, {30, 0.89}, {40, 0.5}})) == 30);
  CHECK(at(curve({{10, 0.5}, {20, 0.2}})) == 10);
  CHECK(!at(curve({{10, 1}, {20, 0.9}})));
  CHECK(!find_threshold_length({Curve{}, Curve{}}));
  CHECK(!find_threshold_length({}));
}

TEST_CASE("a few unlucky examples move no threshold length") {
  Curve dipped = curve({{10, 1}, {20, 1}, {40, 0.97}, {50, 0.4}});
  dipped[30] = {8, 10};
  const ThresholdLength found = *find_threshold_length({dipped});
  CHECK(found.at == 50);
  CHECK(found.tested_to == 50);
  CHECK(!found.has_interval);
}

TEST_CASE("the interval of a threshold length spans its seeds, and may reach beyond what was tested") {
  const Curve early = curve({{10, 1}, {20, 0.5}, {30, 0.1}}), late = curve({{10, 1}, {20, 1}, {30, 1}});
  const ThresholdLength found = *find_threshold_length({early, early, late, late});
  CHECK(found.has_interval);
  CHECK(found.at == 20);
  CHECK(found.low == 20);
  CHECK(!found.high);
  CHECK(find_threshold_length({early, early, late, late}) == found);
  const ThresholdLength sure = *find_threshold_length({early, early, early});
  CHECK(sure.low == 20);
  CHECK(sure.high == 20);
}

TEST_CASE("ties get their mean rank, and an encoding is ranked on the tasks that it ran") {
  const auto ranks = rank_encodings({{{0.9, 0.9}, {0.5}, {0.5}}, {{0.9}, {1}, {}}});
  REQUIRE(ranks.size() == 3);
  CHECK(ranks[0]->mean == 1.5);
  CHECK(ranks[1]->mean == 1.75);
  CHECK(ranks[2]->mean == 2.5);
  CHECK(ranks[2]->tasks == 1);
  CHECK(!rank_encodings({{{}, {0.5}}})[0]);
  CHECK(rank_encodings({}).empty());
}

TEST_CASE("the interval of a rank covers other tasks and other seeds") {
  // Encoding 0 wins every task by far; 1 and 2 win half of the tasks each.
  std::vector<std::vector<std::vector<double>>> values;
  for (int task = 0; task < 8; ++task) {
    const double one = task % 2 == 0 ? 0.6 : 0.4;
    values.push_back({{0.9, 0.91}, {one, one + 0.01}, {1 - one, 1 - one + 0.01}});
  }
  const auto clear = rank_encodings(values);
  CHECK(clear[0]->interval == Interval{1, 1});
  CHECK(clear[1]->interval.low > 2);
  CHECK(clear[1]->interval.low < 2.4);
  CHECK(clear[1]->interval.high > 2.6);
  // One task, where the order is that of the seed drawn.
  const auto by_seed = rank_encodings({{{0.2, 0.8}, {0.5, 0.5}}});
  CHECK(by_seed[0]->mean == 1.5);
  CHECK(by_seed[0]->interval == Interval{1, 2});
  CHECK(!by_seed[0]->enough_seeds());
  CHECK(rank_encodings({{{1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}}})[0]->enough_seeds());
}

TEST_CASE(
    "a task separates encodings by the variance between them beside that over seeds, and by resolved pairs") {
  const auto separations = [](int seeds) {
    const Report report = drawn_report(2, 3, seeds, [](int task, int encoding, int, int seed) {
      return task == 0 ? 0.2 + 0.3 * encoding + 0.01 * seed : 0.5 + 0.1 * (seed % 2);
    });
    return find_separations(summarize(report), SplitKind::out_of_distribution, Metric::sequence);
  };
  const std::vector<Separation> five = separations(5);
  REQUIRE(five.size() == 2);
  CHECK(five[0].between == Approx(0.09));
  CHECK(five[0].over_seeds == Approx(0.00025));
  CHECK(five[0].ratio == Approx(360));
  CHECK(five[0].pairs == 3);
  CHECK(five[0].resolved == 3);
  CHECK(five[1].ratio == 0);
  CHECK(five[1].resolved == 0);
  CHECK(separations(3)[0].resolved == 0);
  CHECK(separations(1).empty());
}

TEST_CASE("a summary is the same bytes each time") {
  const auto text = [] { return to_compact_json(to_json(small_report()).at("summary")); };
  CHECK(text() == text());
}
