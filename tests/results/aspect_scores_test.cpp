// The scores of an encoding by aspect.
#include "results/statistics/aspect_scores.h"

#include <string>
#include <vector>

#include "results/statistics/summary.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

/// Two encodings on three tasks. Out of distribution, encoding 0 has these accuracies on tasks 0, 1 and 2;
/// encoding 1 has 0.
Report scored_report(const std::vector<double>& far, const std::vector<double>& sparse) {
  return drawn_report(3, 2, 5, [&](int task, int encoding, int split, int) {
    if (split == 0) return task == 2 ? 0.5 : 1.0;
    if (encoding == 1) return 0.0;
    return (split == 1 ? far : sparse)[static_cast<size_t>(task)];
  });
}

}  // namespace

TEST_CASE("a predictor whose view determines the answer is no trivial baseline") {
  const SplitBaseline parity{
      .name = "ood_far", .chance = 0.5, .trivial = {{"bag_of_tokens", 0.997}, {"constant", 0.52}}};
  CHECK(above_trivial(parity, 1) == 1);
  CHECK(above_trivial(parity, 0.76) == Approx(0.5));
  const SplitBaseline memory{.name = "ood_far", .chance = 0.2, .trivial = {{"last_token", 1.0}}};
  CHECK(above_trivial(memory, 1) == 1);
  CHECK(above_trivial(memory, 0.6) == Approx(0.5));
}

TEST_CASE("the score of an aspect is the mean over its tasks and their splits out of distribution") {
  Report report = scored_report({0.9, 0.5, 0.3}, {0.7, 0.5, 0.1});
  for (TaskBaseline& task : report.tasks) {
    for (SplitBaseline& split : task.splits) split.chance = 0, split.trivial.clear();
  }
  const std::string first = report.tasks[0].task, second = report.tasks[1].task, third = report.tasks[2].task;
  const std::string encoding = report.experiments.front().id.encoding;
  const std::vector<AspectScore> scores = score_aspects(
      report, encoding, {{"recall", {first, second, "not in the report"}}, {"order", {third}}, {"copying", {}}});
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].aspect == "recall");
  CHECK(scores[0].mean == Approx((0.8 + 0.5) / 2));
  CHECK(scores[0].tasks == 2);
  CHECK(scores[0].learned == 2);
  CHECK(scores[0].interval.low == Approx(0.5));
  CHECK(scores[0].interval.high == Approx(0.8));
  CHECK(scores[1].mean == Approx(0.2));
  CHECK(scores[1].learned == 0);
  CHECK(score_aspects(report, "no such encoding", {{"recall", {first}}}).empty());
}

TEST_CASE("an experiment that diverged counts as 0 in the score of an aspect") {
  Report report = small_report();
  const std::vector<AspectScore> scores = score_aspects(
      report, "cope:positions=16", {{"state tracking", {"flip_flop:length=9"}}, {"counting", {"counting"}}});
  REQUIRE(scores.size() == 2);
  const Summary summary = summarize(report);
  for (size_t n = 0; n < 2; ++n) {
    const SummaryRow* row = find_row(summary, n == 0 ? "flip_flop:length=9" : "counting", "cope:positions=16");
    REQUIRE(row != nullptr);
    CHECK(scores[n].mean == Approx(row->out_of_distribution->above_trivial.mean));
  }
}
