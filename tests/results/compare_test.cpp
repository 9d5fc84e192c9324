// Tests the rows and the verdicts of comparisons.
#include "results/statistics/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/document/render.h"
#include "results/presentation/compare_document.h"
#include "results/statistics/permutation.h"
#include "tests/catch.h"
#include "tests/results/comparisons.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

/// Accuracies that differ between cells and seeds, and by `noise` (a standard deviation) between draws of the
/// stream; in distribution all have learned their task.
Report noisy_report(Rng& rng, int seeds, double noise, const DrawAccuracy& shift = nullptr) {
  return drawn_report(4, 4, seeds, [&](int task, int encoding, int split, int seed) {
    const double middle = split == 0 ? 0.98 : 0.4 + 0.03 * task + 0.05 * encoding + 0.04 * split + 0.02 * seed;
    const double own = (split == 0 ? 0.1 : 1) * noise * normal(rng);
    return std::clamp(middle + own + (shift ? shift(task, encoding, split, seed) : 0), 0.0, 1.0);
  });
}

/// One task, one encoding, one value for each seed on every split.
Report valued_report(const std::vector<double>& accuracies) {
  return drawn_report(1, 1, static_cast<int>(accuracies.size()),
                      [&](int, int, int, int seed) { return accuracies[static_cast<size_t>(seed)]; });
}

void fail(ExperimentResult& experiment) {
  experiment.status = Status::failed;
  experiment.reason = "no memory";
  experiment.splits.clear();
}

Verdict verdict(const std::vector<double>& before, const std::vector<double>& after,
                const CompareOptions& options = {}) {
  return compare_one(valued_report(before), valued_report(after), options).rows.at(0).verdict;
}

}  // namespace

TEST_CASE("a planted regression is found as exactly its row") {
  Rng rng = make_rng(1, "test");
  for (int trial = 0; trial < 10; ++trial) {
    const Report before = noisy_report(rng, 5, 0.01);
    const Report after = noisy_report(rng, 5, 0.01, [](int task, int encoding, int split, int) {
      return task == 2 && encoding == 3 && split == 1 ? -0.3 : 0;
    });
    const Comparison comparison = compare_one(before, after);
    CHECK(comparison.rows.size() == 48);
    CHECK(has_regression(comparison));
    for (const ComparisonRow& row : comparison.rows) {
      const bool planted = row.task == "task2" && row.encoding == "encoding3" && row.split == "ood_far";
      INFO(row.task << " " << row.encoding << " " << row.split);
      CHECK((row.verdict == Verdict::worse) == planted);
      CHECK(row.verdict != Verdict::better);
    }
  }
}

TEST_CASE("noise alone is reported as a regression in at most 5 of 100 pairs, for any number of seeds") {
  for (const int seeds : {3, 5, 8}) {
    Rng rng = make_rng(static_cast<std::uint64_t>(seeds), "test");
    int regressions = 0, changes = 0;
    for (int pair = 0; pair < 100; ++pair) {
      const Report before = noisy_report(rng, seeds, 0.05), after = noisy_report(rng, seeds, 0.05);
      const Comparison comparison = compare_one(before, after);
      regressions += has_regression(comparison);
      changes += std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparisonRow& row) {
        return row.verdict == Verdict::better || row.verdict == Verdict::worse;
      });
    }
    INFO(seeds << " seeds");
    CHECK(regressions <= 5);
    CHECK(changes <= 10);
  }
}

TEST_CASE("a report compared with itself is the same") {
  const Comparison comparison = compare_one(small_report(), small_report());
  CHECK(comparison.rows.size() == 8);
  for (const ComparisonRow& row : comparison.rows) CHECK(row.verdict == Verdict::same);
  CHECK(comparison.one_sided.empty());
  CHECK(!has_regression(comparison));
}

TEST_CASE("a row holds the test of its seeds") {
  const std::vector<double> before = {0.5, 0.6, 0.7, 0.8, 0.9, 1}, after = {0.55, 0.58, 0.79, 0.9, 0.95, 1};
  const Comparison comparison = compare_one(valued_report(before), valued_report(after));
  const ComparisonRow& row = comparison.rows.at(0);
  CHECK(row.split == "in_distribution");
  CHECK(row.before.seeds == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(row.before.mean == Approx(0.75));
  CHECK(row.after.mean == Approx(0.795));
  CHECK(row.difference == Approx(0.045));
  CHECK(row.before.solved == Count{1, 6});
  CHECK(row.in_pairs);
  const std::vector split = {SplitValues{before, after}};
  const PermutationDistribution expected = relabel(split, true);
  CHECK(*row.p == Approx(expected.p(expected.statistic())));
  CHECK(*row.p_corrected == Approx(*row.p));  // the only test
  // All three splits have the same values, so the prior has no spread. The logarithm of a sample variance of five
  // degrees of freedom is smaller than that of the true variance by log(2.5) - digamma(2.5) = 0.2131 on average
  // (Smyth 2004). The factor exp(0.2131 / 2) corrects the standard deviation for it.
  const std::vector<double> differences = {0.05, -0.02, 0.09, 0.1, 0.05, 0};
  CHECK(*row.noise == Approx(standard_deviation(differences) * std::exp(0.2131 / 2)).epsilon(1e-4));
  CHECK(row.unmoderated_interval->low == Approx(t_interval(differences)->low));
  CHECK(row.interval->high - row.interval->low <
        row.unmoderated_interval->high - row.unmoderated_interval->low);  // more degrees of freedom
}

TEST_CASE("a seed with exactly 0.99 of the sequences right has solved the split") {
  const Comparison comparison = compare_one(valued_report({0.99, 0.989, 1}), valued_report({0.99, 0.99, 0.991}));
  CHECK(comparison.rows.at(0).before.solved == Count{2, 3});
  CHECK(comparison.rows.at(0).after.solved == Count{3, 3});
}

TEST_CASE("an accuracy of exactly 0.95 in distribution counts as learned") {
  const Comparison comparison = compare_one(valued_report({0.95, 0.949, 1}), valued_report({0.95, 0.95, 0.951}));
  CHECK(comparison.rows.at(0).before.learned.seeds == Count{2, 3});
  CHECK(comparison.rows.at(0).after.learned.seeds == Count{3, 3});
}

TEST_CASE("a verdict is decided by the corrected p-value") {
  // The first of seven encodings improves for every seed, and the others for every second one: all have the same
  // values.
  const auto report = [](bool after) {
    return drawn_report(1, 7, 5, [after](int, int encoding, int split, int seed) {
      const bool is_high = encoding == 0 ? after : (seed % 2 == 0) == after;
      return split == 0 ? 1 : 0.5 + 0.01 * seed + (is_high ? 0.3 : 0);
    });
  };
  const Comparison comparison = compare_one(report(false), report(true));
  const ComparisonRow& row = comparison.rows.at(1);
  REQUIRE(row.split == "ood_far");
  CHECK(*row.p == Approx(2.0 / 252));
  CHECK(*row.p_corrected == Approx(7 * 2.0 / 252));
  CHECK(row.verdict == Verdict::inconclusive);
}

TEST_CASE("two builds of one encoding pair by seed from six seeds on, two encodings never") {
  const auto in_pairs = [](int seeds, const CompareOptions& options) {
    const auto draw = [](int, int encoding, int, int seed) { return 0.5 + 0.1 * encoding + 0.01 * seed; };
    const Report before = drawn_report(1, 2, seeds, draw);
    return compare_one(before, before, options).rows.at(0).in_pairs;
  };
  CHECK(in_pairs(6, {}));
  CHECK(!in_pairs(5, {}));
  CHECK(!in_pairs(6, {.match = {{"encoding0", "encoding1"}}}));
}

TEST_CASE("two builds without a common seed are compared with all their seeds, unpaired") {
  const auto draw = [](int, int, int, int seed) { return 0.5 + 0.01 * seed; };
  const Report before = drawn_report(1, 1, 6, draw);
  Report after = before;
  for (ExperimentResult& experiment : after.experiments) experiment.id.seed += 100;
  const ComparisonRow row = compare_one(before, after).rows.at(0);
  CHECK_FALSE(row.in_pairs);
  CHECK(row.before.seeds == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(row.after.seeds == std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105});
}

TEST_CASE("verdicts weigh difference, noise and threshold") {
  CHECK(verdict({0.5, 0.51, 0.49, 0.5, 0.52}, {0.8, 0.82, 0.79, 0.8, 0.81}) == Verdict::better);
  CHECK(verdict({0.8, 0.82, 0.79, 0.8, 0.81}, {0.5, 0.51, 0.49, 0.5, 0.52}) == Verdict::worse);
  const std::vector<double> wide = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  CHECK(verdict(wide, {0.502, 0.599, 0.7, 0.801, 0.9, 0.951}) == Verdict::same);
  CHECK(verdict(wide, {0.9, 0.5, 0.8, 0.6, 0.7, 0.95}) == Verdict::inconclusive);
  // Sure, but too small to matter; and, with a lower threshold, not.
  CHECK(verdict(wide, {0.51, 0.61, 0.71, 0.81, 0.91, 0.96}) == Verdict::same);
  CHECK(verdict(wide, {0.51, 0.61, 0.71, 0.81, 0.91, 0.96}, {.threshold = 0.005}) == Verdict::better);
  // A difference of the threshold itself matters.
  CHECK(verdict({0.5, 0.5, 0.5, 0.5, 0.5}, {0.75, 0.75, 0.75, 0.75, 0.75}, {.threshold = 0.25}) ==
        Verdict::better);
  // A stricter alpha.
  CHECK(verdict({0.5, 0.5, 0.5, 0.5, 0.5}, {0.8, 0.81, 0.82, 0.8, 0.8}) == Verdict::better);
  CHECK(verdict({0.5, 0.5, 0.5, 0.5, 0.5}, {0.8, 0.81, 0.82, 0.8, 0.8}, {.alpha = 1e-6}) == Verdict::inconclusive);
}

TEST_CASE("the noise of a row alone must also show that it is the same") {
  const ComparisonRow row =
      compare_one(valued_report({0.48, 0.5, 0.5, 0.5, 0.52}), valued_report({0.5, 0.48, 0.52, 0.5, 0.5}))
          .rows.at(0);
  CHECK(row.interval->high < 0.02);
  CHECK(row.unmoderated_interval->high > 0.02);
  CHECK(row.verdict == Verdict::inconclusive);
}

TEST_CASE("as accurate is not the same where fewer seeds solve the task") {
  const std::vector<double> solved = {0.992, 0.992, 0.992, 0.992, 0.992, 0.992};
  CHECK(verdict(solved, {0.991, 0.992, 0.993, 0.992, 0.992, 0.992}) == Verdict::same);
  CHECK(verdict(solved, {0.989, 0.992, 0.993, 0.992, 0.992, 0.992}) == Verdict::inconclusive);
}

TEST_CASE("below five seeds there is no verdict, whatever the difference") {
  for (const size_t seeds : {1u, 3u, 4u}) {
    const Comparison comparison =
        compare_one(valued_report(std::vector(seeds, 1.0)), valued_report(std::vector(seeds, 0.99)));
    CHECK(comparison.rows[0].verdict == Verdict::too_few_seeds);
    CHECK(!comparison.rows[0].p);
    CHECK(!comparison.rows[0].detectable);
    CHECK(!has_regression(comparison));
    CHECK(
        comparison.warnings ==
        std::vector<std::string>{
            "3 of 3 rows have fewer than 5 seeds on a side, so no test can call them better or worse: seeds solve a task "
            "or do not, and so few could differ as much by chance; run with -s 5"});
  }
  // Three seeds that all solve it on both sides, but were trained otherwise, are not the same.
  Report before = valued_report({1, 1, 1}), after = before;
  CHECK(compare_one(before, after).rows[0].verdict == Verdict::same);
  for (ExperimentResult& experiment : after.experiments) experiment.final_loss = 0.4;
  CHECK(compare_one(before, after).rows[0].verdict == Verdict::too_few_seeds);
}

TEST_CASE(
    "if a task was not learned in distribution, other splits get no verdict, but the gain of late training") {
  const auto report = [](double learned) {
    Report report = drawn_report(1, 1, 5, [&](int, int, int split, int seed) {
      return split == 0 ? (seed < 2 ? 1 : learned) : 0.1 * seed;
    });
    for (ExperimentResult& experiment : report.experiments) {
      experiment.learning_curve = {{100, 1, 0.5, 0.1}, {600, 1, 0.5, 0.5}, {1000, 1, 0.5, 0.9}};
    }
    return report;
  };
  const Comparison comparison = compare_one(report(0.96), report(0.94));
  CHECK(comparison.rows[0].verdict != Verdict::not_learned);  // in distribution
  CHECK(comparison.rows[0].before.learned.seeds == Count{5, 5});
  CHECK(comparison.rows[1].verdict == Verdict::not_learned);
  CHECK(comparison.rows[1].after.learned.seeds == Count{2, 5});
  CHECK(*comparison.rows[1].after.learned.late_gain == Approx(0.4));
  const std::string text = to_console_text(make_comparison_document(comparison));
  CHECK(text.find("not learned (+0.40)") != std::string::npos);
  CHECK(text.find("not learned: most seeds are under 0.95 in distribution") != std::string::npos);
}

TEST_CASE("token accuracy can be compared instead of sequence accuracy") {
  const Report before = constant_report(1, 5, 0.5);
  Report after = before;
  for (ExperimentResult& experiment : after.experiments) experiment.splits[0].token.correct = 900;
  CHECK(compare_one(before, after).rows[0].verdict == Verdict::same);
  CHECK(compare_one(before, after, {.metric = Metric::token}).rows[0].verdict == Verdict::better);
}

TEST_CASE("an experiment that no longer finishes counts as 0; where none does, that is worse") {
  const Report before = constant_report(2, 3, 0.3);
  Report after = before;
  fail(after.experiments[0]);
  for (size_t i : {3, 4, 5}) fail(after.experiments[i]);
  const Comparison comparison = compare_one(before, after);
  CHECK(comparison.rows[0].after.mean == Approx(0.2));
  CHECK(comparison.rows[0].after.unfinished == 1);
  CHECK(comparison.rows[0].verdict == Verdict::too_few_seeds);
  CHECK(comparison.rows[3].after.unfinished == 3);
  CHECK(comparison.rows[3].verdict == Verdict::worse);
  CHECK(compare_one(after, before).rows[3].verdict == Verdict::better);
  CHECK(compare_one(after, after).rows[3].verdict == Verdict::same);
}

TEST_CASE("experiments of one side only are listed, and not compared") {
  Report before = constant_report(3, 4, 0.5), after = before;
  rename_encoding(after, "encoding1", "encoding1:positions=16");
  std::erase_if(after.experiments, [](const auto& e) { return e.id.encoding == "encoding2" && e.id.seed > 1; });
  const Comparison comparison = compare_one(before, after);
  CHECK(comparison.rows.size() == 6);
  REQUIRE(comparison.one_sided.size() == 3);
  CHECK(comparison.one_sided[0].in_baseline);
  CHECK(comparison.one_sided[0].encoding == "encoding1");
  CHECK(comparison.one_sided[1].encoding == "encoding2");
  CHECK(comparison.one_sided[1].seeds == std::vector<std::uint64_t>{2, 3});
  CHECK(!comparison.one_sided[2].in_baseline);
  CHECK(comparison.one_sided[2].encoding == "encoding1:positions=16");
}

TEST_CASE("encodings with other options are compared where they are matched") {
  Rng rng = make_rng(3, "test");
  const Report before = noisy_report(rng, 5, 0.005);
  Report after = noisy_report(
      rng, 5, 0.005, [](int, int encoding, int split, int) { return encoding == 1 && split > 0 ? -0.3 : 0; });
  rename_encoding(after, "encoding1", "encoding1:positions=16");
  const Comparison comparison = compare_one(before, after, {.match = {{"encoding1", "encoding1:positions=16"}}});
  CHECK(comparison.one_sided.empty());
  CHECK(comparison.rows.size() == 48);
  for (const ComparisonRow& row : comparison.rows) {
    INFO(row.task << " " << row.encoding << " " << row.split);
    const bool shifted = row.encoding == "encoding1" && row.kind == SplitKind::out_of_distribution;
    CHECK((row.verdict == Verdict::worse) == shifted);
    CHECK(row.candidate_encoding == (row.encoding == "encoding1" ? "encoding1:positions=16" : row.encoding));
  }
}

TEST_CASE("two encodings of one run can be compared, and one with several") {
  const Report report = drawn_report(1, 3, 5, [](int, int encoding, int, int seed) {
    return 0.2 + 0.3 * encoding + 0.001 * seed * seed * (encoding + 1);
  });
  const Comparison comparison =
      compare_one(report, report, {.match = {{"encoding0", "encoding1"}, {"encoding0", "encoding2"}}});
  CHECK(comparison.rows.size() == 12);  // encoding0 with 1 and 2; 1 and 2 with themselves
  CHECK(comparison.rows[0].candidate_encoding == "encoding1");
  CHECK(comparison.rows[0].verdict == Verdict::better);
  CHECK(comparison.rows[3].candidate_encoding == "encoding2");
  CHECK(comparison.rows[6].verdict == Verdict::same);
}

TEST_CASE("a match is split by the known names") {
  Report before = constant_report(1, 1, 0.5), after = before;
  rename_encoding(before, "encoding0", "cope:positions=8");
  rename_encoding(after, "encoding0", "cope:gates=values,positions=16");
  const NamedReport baseline{"before.json", before};
  const std::array candidates = {NamedReport{"after.json", after}};
  CHECK(parse_match("cope:positions=8=cope:gates=values,positions=16", baseline, candidates) ==
        std::pair<std::string, std::string>{"cope:positions=8", "cope:gates=values,positions=16"});
  CHECK_THROWS_WITH(parse_match("cope=cope:positions=16", baseline, candidates),
                    "--match: 'cope=cope:positions=16' is not ENCODING=ENCODING with one of before.json "
                    "(cope:positions=8) and one of the candidates (cope:gates=values,positions=16)");
  CHECK_THROWS_WITH(
      compare(baseline, candidates, {.match = {{"cope:position=8", "x"}}}),
      "--match: no encoding 'cope:position=8' in before.json; did you mean 'cope:positions=8'? (it has "
      "cope:positions=8)");
}

TEST_CASE("several candidates are compared with one baseline, with one correction for all") {
  const Report before = valued_report({0.5, 0.52, 0.51, 0.5, 0.5}),
               better = valued_report({0.7, 0.73, 0.7, 0.7, 0.72});
  const std::array candidates = {NamedReport{"a.json", better}, NamedReport{"b.json", before}};
  const Comparison comparison = compare({"before.json", before}, candidates, {});
  CHECK(comparison.candidates == std::vector<std::string>{"a.json", "b.json"});
  REQUIRE(comparison.rows.size() == 6);
  CHECK(comparison.rows[0].candidate == 0);
  CHECK(comparison.rows[0].verdict == Verdict::better);
  CHECK(*comparison.rows[0].p == Approx(2.0 / 252));
  CHECK(comparison.tests == 2);
  CHECK(*comparison.rows[0].p_corrected >= *comparison.rows[0].p);
  CHECK(comparison.rows[5].candidate == 1);
  CHECK(comparison.rows[5].verdict == Verdict::same);
}
