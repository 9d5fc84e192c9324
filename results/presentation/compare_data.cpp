#include "results/presentation/compare_data.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/proportion.h"

namespace posbench {
namespace {

std::vector<Cell> csv_cells(const Comparison& comparison, const ComparisonRow& row) {
  const auto bound = [&](double Interval::*end) { return row.interval ? number_text(*row.interval.*end) : ""; };
  const auto count = [](auto number) { return fmt::format("{}", number); };
  return {to_string(row.verdict),
          comparison.candidates[row.candidate],
          row.task,
          row.encoding,
          row.candidate_encoding,
          row.split,
          number_text(row.before.mean),
          number_text(row.after.mean),
          number_text(row.difference),
          bound(&Interval::low),
          bound(&Interval::high),
          count(row.before.seeds.size()),
          count(row.after.seeds.size()),
          count(row.before.unfinished),
          count(row.after.unfinished),
          count(row.before.solved.correct),
          count(row.after.solved.correct),
          number_text(row.p_corrected),
          number_text(row.detectable)};
}

Json write_interval(const Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }

Json write_side(const ComparisonSide& side) {
  Json json;
  json["seeds"] = side.seeds;
  json["unfinished"] = side.unfinished;
  json["mean"] = side.mean;
  json["solved"] = side.solved.correct;
  json["solved_interval"] = write_interval(clopper_pearson_interval(side.solved));
  json["learned"] = side.learned.seeds.correct;
  json["late_gain"] = number_or_null(side.learned.late_gain);
  return json;
}

Json write_row(const Comparison& comparison, const ComparisonRow& row) {
  Json json;
  json["candidate"] = comparison.candidates[row.candidate];
  json["task"] = row.task;
  json["encoding"] = row.encoding;
  json["candidate_encoding"] = row.candidate_encoding;
  json["split"] = row.split;
  json["kind"] = to_string(row.kind);
  json["before"] = write_side(row.before);
  json["after"] = write_side(row.after);
  json["in_pairs"] = row.in_pairs;
  json["identical"] = row.identical;
  json["difference"] = row.difference;
  json["noise"] = number_or_null(row.noise);
  json["interval"] = row.interval ? write_interval(*row.interval) : Json(nullptr);
  json["solved_p"] = number_or_null(row.solved_p);
  json["p"] = number_or_null(row.p);
  json["p_corrected"] = number_or_null(row.p_corrected);
  json["detectable"] = number_or_null(row.detectable);
  json["verdict"] = to_string(row.verdict);
  return json;
}

Json write_one_sided(const Comparison& comparison, const UnmatchedExperiments& alone) {
  Json json;
  json["candidate"] = comparison.candidates[alone.candidate];
  json["only_in"] = alone.in_baseline ? "baseline" : "candidate";
  json["task"] = alone.task;
  json["encoding"] = alone.encoding;
  json["seeds"] = alone.seeds;
  return json;
}

Json write_options(const CompareOptions& options) {
  Json json;
  json["alpha"] = options.alpha;
  json["threshold"] = options.threshold;
  json["metric"] = to_string(options.metric);
  json["allow_different_budget"] = options.allow_different_budget;
  json["match"] = Json::array();
  for (const auto& [baseline, candidate] : options.match) {
    json["match"].push_back({{"baseline", baseline}, {"candidate", candidate}});
  }
  return json;
}

}  // namespace

Table comparison_csv(const Comparison& comparison) {
  Table table;
  for (const char* header :
       {"verdict", "candidate", "task", "encoding", "candidate_encoding", "split", "baseline_mean",
        "candidate_mean", "difference", "low", "high", "baseline_seeds", "candidate_seeds", "baseline_unfinished",
        "candidate_unfinished", "baseline_solved", "candidate_solved", "p_corrected", "detectable"})
    table.columns.push_back({header});
  for (const Verdict verdict : kVerdictOrder) {
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == verdict) table.rows.push_back(csv_cells(comparison, row));
    }
  }
  return table;
}

Json to_json(const Comparison& comparison) {
  Json json;
  json["baseline"] = comparison.baseline;
  json["candidates"] = comparison.candidates;
  json["options"] = write_options(comparison.options);
  json["regression"] = has_regression(comparison);
  json["rows"] = write_list(comparison.rows, [&](const ComparisonRow& row) { return write_row(comparison, row); });
  json["one_sided"] = write_list(
      comparison.one_sided, [&](const UnmatchedExperiments& alone) { return write_one_sided(comparison, alone); });
  json["warnings"] = comparison.warnings;
  return json;
}

}  // namespace posbench
