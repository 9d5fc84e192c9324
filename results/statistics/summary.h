// Summarizes a report: for each task and encoding over all seeds, and for each encoding over
// tasks.
//
// All seeds count. An experiment that diverged or failed has an accuracy of 0 on every split, and so has its value
// relative to the best trivial predictor (`above_trivial`). It solves nothing. Skipping it would favor unstable
// encodings. Each mean has the number of such experiments.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics/effective_length.h"
#include "results/statistics/learned.h"
#include "results/statistics/ranking.h"
#include "results/statistics/statistics.h"
#include "results/statistics/threshold_length.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// One metric over seeds.
struct Spread {
  std::vector<double> values;  // one for each seed, in the order of SummaryRow::seeds
  double mean = 0;
  // The 95 % interval of the mean; empty with one seed. The interval of an accuracy holds for any distribution of
  // the seeds. The intervals of other metrics are Student's t.
  std::optional<Interval> interval;
};

struct SplitSummary {
  std::string name;  // of a split; or of a kind, for the mean over the splits of that kind
  SplitKind kind = SplitKind::in_distribution;
  Spread token, sequence;
  std::map<Metric, Spread> others;  // every other metric that all finished experiments have
  Spread above_trivial;             // of posbench::above_trivial
  double solved =
      0;  // the fraction of seeds with a sequence accuracy of kSolved or more, on every split of a kind
  Interval solved_interval;  // 95 % of that fraction, by Clopper and Pearson

  const Spread* spread(Metric) const;  // null if the report does not have the metric
};

/// One task and encoding, over all seeds.
struct SummaryRow {
  std::string task, encoding;
  std::optional<Swept> swept;                                        // of the experiments
  std::optional<Extended> extended;                                  // the same
  std::vector<std::uint64_t> seeds;                                  // in the order of the report
  int diverged = 0, failed = 0;                                      // experiments
  Learned learned;                                                   // the task, in distribution
  std::vector<SplitSummary> splits;                                  // as the task lists them
  std::optional<SplitSummary> in_distribution, out_of_distribution;  // empty if the task has no such split
  // Empty if no experiment recorded any. A length that several splits test counts in the first of them, because
  // tasks list smaller changes before larger ones. Distances are those of splits that are no longer than the
  // first, because in longer ones an encoding may fail because of the length.
  std::optional<ThresholdLength> length, distance;
  std::optional<EffectiveLength> effective_length, effective_far, effective_distance;  // empty without such a grid
};

/// Mean ranks by sequence accuracy. Out of distribution, encodings that have not learned a task rank equally
/// behind all others on it.
struct Ranking {
  std::string encoding;
  std::optional<MeanRank> in_distribution, out_of_distribution;
};

struct Summary {
  std::vector<SummaryRow> rows;  // tasks as the report lists them; encodings by their first experiment
  std::vector<Ranking> ranking;  // encodings by their first experiment
};

/// Returns (token accuracy - best trivial one) / (1 - best trivial one), within [0, 1].
double above_trivial(const SplitBaseline&, double token_accuracy);

Summary summarize(const Report&);

/// A report with its summary, which takes time to compute.
struct SummarizedReport {
  Report report;
  Summary summary = summarize(report);
};

/// Returns the row of a task and an encoding, or null.
const SummaryRow* find_row(const Summary&, const std::string& task, const std::string& encoding);

}  // namespace posbench
