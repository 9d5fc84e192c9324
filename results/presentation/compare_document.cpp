#include "results/presentation/compare_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/document/page.h"
#include "results/presentation/accuracy_text.h"
#include "results/statistics/learned.h"
#include "results/statistics/proportion.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

/// The order of rows in tables.
constexpr Verdict kVerdictOrder[] = {Verdict::worse,       Verdict::better,        Verdict::inconclusive,
                                     Verdict::not_learned, Verdict::too_few_seeds, Verdict::same};

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
  return {{"seeds", side.seeds},
          {"unfinished", side.unfinished},
          {"mean", side.mean},
          {"solved", side.solved.correct},
          {"solved_interval", write_interval(clopper_pearson_interval(side.solved))},
          {"learned", side.learned.seeds.correct},
          {"late_gain", number_or_null(side.learned.late_gain)}};
}

Json write_row(const Comparison& comparison, const ComparisonRow& row) {
  return {{"candidate", comparison.candidates[row.candidate]},
          {"task", row.task},
          {"encoding", row.encoding},
          {"candidate_encoding", row.candidate_encoding},
          {"split", row.split},
          {"kind", to_string(row.kind)},
          {"before", write_side(row.before)},
          {"after", write_side(row.after)},
          {"in_pairs", row.in_pairs},
          {"identical", row.identical},
          {"difference", row.difference},
          {"noise", number_or_null(row.noise)},
          {"interval", row.interval ? write_interval(*row.interval) : Json(nullptr)},
          {"p", number_or_null(row.p)},
          {"p_corrected", number_or_null(row.p_corrected)},
          {"detectable", number_or_null(row.detectable)},
          {"verdict", to_string(row.verdict)}};
}

Json write_one_sided(const Comparison& comparison, const UnmatchedExperiments& alone) {
  return {{"candidate", comparison.candidates[alone.candidate]},
          {"only_in", alone.in_baseline ? "baseline" : "candidate"},
          {"task", alone.task},
          {"encoding", alone.encoding},
          {"seeds", alone.seeds}};
}

Json write_options(const CompareOptions& options) {
  return {{"alpha", options.alpha},
          {"threshold", options.threshold},
          {"metric", to_string(options.metric)},
          {"allow_different_budget", options.allow_different_budget},
          {"match", write_list(options.match, [](const auto& pair) {
             return Json{{"baseline", pair.first}, {"candidate", pair.second}};
           })}};
}

int count(const Comparison& comparison, Verdict verdict) {
  return static_cast<int>(std::ranges::count(comparison.rows, verdict, &ComparisonRow::verdict));
}

/// Returns the gain in the last 40 % of training on a side that has not learned. With two such sides, returns the
/// greater gain.
std::optional<double> late_gain(const ComparisonRow& row) {
  std::optional<double> gain;
  for (const ComparisonSide* side : {&row.before, &row.after}) {
    if (!side->learned.by_half_the_seeds()) gain = std::max(gain, side->learned.late_gain);
  }
  return gain;
}

/// Returns "0.912", and how many of the seeds did not finish: "0.304 (2 unfinished)".
std::string mean_text(const ComparisonSide& side) {
  const std::string mean = accuracy_text(side.mean, 3);
  return side.unfinished == 0 ? mean : fmt::format("{} ({} unfinished)", mean, side.unfinished);
}

/// Returns "+0.123 ±0.045": the difference and half of its interval.
std::string interval_text(const ComparisonRow& row) {
  if (!row.interval) return difference_text(row.difference);
  return fmt::format("{} ±{:.3f}", difference_text(row.difference), row.interval->high - row.difference);
}

/// Returns "5/5 -> 0/5": seeds that solve the split, out of all.
std::string solved_text(const ComparisonRow& row) {
  return fmt::format("{}/{} -> {}/{}", row.before.solved.correct, row.before.solved.total,
                     row.after.solved.correct, row.after.solved.total);
}

std::string detectable_text(const std::optional<double>& difference, Metric metric) {
  if (!difference) return "-";
  return metric_info(metric).is_accuracy && *difference > 1 ? ">1" : fmt::format("{:.3f}", *difference);
}

/// Returns "cope -> cope:positions=16", or one name.
std::string encoding_text(const ComparisonRow& row) {
  if (row.encoding == row.candidate_encoding) return row.encoding;
  return fmt::format("{} -> {}", row.encoding, row.candidate_encoding);
}

/// Returns "better", or "not learned (+0.12)".
std::string verdict_text(const ComparisonRow& row) {
  const std::optional<double> gain = row.verdict == Verdict::not_learned ? late_gain(row) : std::nullopt;
  return gain ? fmt::format("{} ({:+.2f})", to_string(row.verdict), *gain) : to_string(row.verdict);
}

std::vector<Cell> cells(const Comparison& comparison, const ComparisonRow& row) {
  std::vector<Cell> cells;
  if (comparison.candidates.size() > 1) cells.emplace_back(comparison.candidates[row.candidate]);
  for (std::string text : {row.task, encoding_text(row), row.split}) cells.emplace_back(std::move(text));
  cells.emplace_back(verdict_text(row), tone(row.verdict));
  for (std::string text : {mean_text(row.before), mean_text(row.after), interval_text(row), solved_text(row),
                           p_text(row.p_corrected), detectable_text(row.detectable, comparison.options.metric)})
    cells.emplace_back(std::move(text));
  return cells;
}

std::string one_sided_text(const Comparison& comparison, const UnmatchedExperiments& alone) {
  const std::string& where = alone.in_baseline ? comparison.baseline : comparison.candidates[alone.candidate];
  const std::string against = alone.in_baseline && comparison.candidates.size() > 1
                                  ? " and not in " + comparison.candidates[alone.candidate]
                                  : "";
  return fmt::format("{} / {}, {} {}: in {} only{}", alone.task, alone.encoding,
                     alone.seeds.size() == 1 ? "seed" : "seeds", fmt::join(alone.seeds, ", "), where, against);
}

/// Returns encodings of one name, alone on either side, that a reader may want to pair.
std::vector<std::string> match_hints(const Comparison& comparison) {
  std::set<std::pair<size_t, std::string>> ours, theirs;  // by candidate
  for (const UnmatchedExperiments& alone : comparison.one_sided) {
    (alone.in_baseline ? ours : theirs).emplace(alone.candidate, alone.encoding);
  }
  std::vector<std::string> hints;
  for (const auto& [of, baseline] : ours) {
    for (const auto& [candidate, encoding] : theirs) {
      const bool alike = of == candidate && baseline != encoding && spec_name(baseline) == spec_name(encoding);
      if (alike) hints.push_back(fmt::format("to compare the two: --match {}={}", baseline, encoding));
    }
  }
  return hints;
}

/// Returns "3 worse, 1 same".
std::string verdict_counts(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdictOrder) {
    const int rows = count(comparison, verdict);
    if (rows > 0) parts.push_back(fmt::format("{} {}", rows, to_string(verdict)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns experiments on one side only, and warnings.
std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const UnmatchedExperiments& one : comparison.one_sided) lines.push_back(one_sided_text(comparison, one));
  for (std::string& hint : match_hints(comparison)) lines.push_back(std::move(hint));
  for (const std::string& warning : comparison.warnings) lines.push_back("warning: " + warning);
  return lines;
}

/// Returns the paragraphs that explain the columns.
std::vector<std::string> legend(const Comparison& comparison) {
  const bool is_length = comparison.options.metric == Metric::effective_length;
  std::vector<std::string> lines{fmt::format(
      "{}, mean over seeds; differences of {} or more matter. solved: seeds with {} of sequences or more{}.",
      metric_info(comparison.options.metric).title, comparison.options.threshold, is_length ? kKept : kSolved,
      is_length ? " at every tested multiple" : "")};
  if (comparison.tests > 0) {
    lines.push_back(fmt::format(
        "p: exact permutation test over the splits of a task and encoding, corrected for {}; alpha {}.",
        counted(static_cast<size_t>(comparison.tests), "test"), comparison.options.alpha));
    lines.emplace_back(
        "detectable: the smallest difference that these seeds find with a power of 80 %, assuming normal noise.");
  }
  if (count(comparison, Verdict::not_learned) > 0) {
    lines.push_back(fmt::format(
        "not learned: most seeds are under {} in distribution, so other splits say nothing about the encoding; in "
        "brackets, how much validation accuracy still rose in the last {:.0f} % of training.",
        kLearned, 100 * kLateTraining));
  }
  return lines;
}

std::vector<std::string> tasks(const Comparison& comparison) {
  std::vector<std::string> tasks;
  for (const ComparisonRow& row : comparison.rows) {
    if (std::ranges::find(tasks, row.task) == tasks.end()) tasks.push_back(row.task);
  }
  return tasks;
}

/// Returns true if all rows of a task are of the same pair of encodings, in the same candidate.
bool has_one_pair(const Comparison& comparison, const std::string& task) {
  const ComparisonRow& first = *std::ranges::find(comparison.rows, task, &ComparisonRow::task);
  return std::ranges::all_of(comparison.rows, [&](const ComparisonRow& row) {
    return row.task != task || (row.candidate == first.candidate && encoding_text(row) == encoding_text(first));
  });
}

std::string pair_text(const Comparison& comparison, const ComparisonRow& row) {
  const std::string of = comparison.candidates.size() > 1 ? comparison.candidates[row.candidate] + ": " : "";
  return of + encoding_text(row);
}

Plot forest(const Comparison& comparison, const std::string& task) {
  Plot plot{.kind = "forest",
            .title = task,
            .about = fmt::format(
                "Candidate minus baseline. Lines are 95 % intervals; the gray range is ±{}, the smallest "
                "difference that matters.",
                comparison.options.threshold),
            .columns = {{"row", "encoding and split"},
                        {"verdict", "verdict"},
                        {"value", "difference"},
                        {"low", "low"},
                        {"high", "high"},
                        {"before", "baseline"},
                        {"after", "candidate"},
                        {"p", "p, corrected"},
                        {"detectable", "smallest difference found with a power of 80 %"},
                        {"seeds_before", "seeds, baseline"},
                        {"seeds_after", "seeds, candidate"}}};
  plot.signals = {{"x_title", fmt::format("difference of {}", metric_info(comparison.options.metric).title)},
                  {"threshold", comparison.options.threshold}};
  const bool one_pair = has_one_pair(comparison, task);
  for (const ComparisonRow& row : comparison.rows) {
    if (row.task != task) continue;
    if (one_pair) plot.title = fmt::format("{}, {}", task, pair_text(comparison, row));
    plot.add_row({one_pair ? row.split : fmt::format("{}, {}", pair_text(comparison, row), row.split),
                  to_string(row.verdict), row.difference, low_of(row.interval), high_of(row.interval),
                  row.before.mean, row.after.mean, number_or_null(row.p_corrected), number_or_null(row.detectable),
                  row.before.seeds.size(), row.after.seeds.size()});
  }
  return plot;
}

Page make_page(const Comparison& comparison) {
  std::vector<std::string> candidates;
  for (const std::string& candidate : comparison.candidates) candidates.push_back(short_run_name(candidate));
  Page page{.title = fmt::format("{}, compared with {}", fmt::join(candidates, ", "),
                                 short_run_name(comparison.baseline))};
  Section section{"Differences by task", "", {}};
  for (const std::string& task : tasks(comparison)) section.plots.push_back(forest(comparison, task));
  page.sections.push_back(std::move(section));
  return page;
}

}  // namespace

Table comparison_table(const Comparison& comparison) {
  const bool has_several = comparison.candidates.size() > 1;
  Table table{.columns = make_columns({"task", "encoding", "split", "verdict"},
                                      {"baseline", has_several ? "its mean" : "candidate", "difference (95%)",
                                       "solved", "p", "detectable"}),
              .naming = has_several ? 4u : 3u,
              .is_grouped = true};
  if (has_several) table.columns.insert(table.columns.begin(), {"candidate"});
  for (const Verdict verdict : kVerdictOrder) {
    if (verdict == Verdict::same) table.first_folded = table.rows.size();
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == verdict) table.rows.push_back(cells(comparison, row));
    }
  }
  table.folded = fmt::format("{} same", table.rows.size() - table.first_folded);
  return table;
}

Table comparison_csv(const Comparison& comparison) {
  Table table{.columns =
                  make_columns({"verdict", "candidate", "task", "encoding", "candidate_encoding", "split",
                                "baseline_mean", "candidate_mean", "difference", "low", "high", "baseline_seeds",
                                "candidate_seeds", "baseline_unfinished", "candidate_unfinished",
                                "baseline_solved", "candidate_solved", "p_corrected", "detectable"})};
  for (const Verdict verdict : kVerdictOrder) {
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == verdict) table.rows.push_back(csv_cells(comparison, row));
    }
  }
  return table;
}

Json to_json(const Comparison& comparison) {
  return {
      {"baseline", comparison.baseline},
      {"candidates", comparison.candidates},
      {"options", write_options(comparison.options)},
      {"regression", has_regression(comparison)},
      {"rows", write_list(comparison.rows, [&](const ComparisonRow& row) { return write_row(comparison, row); })},
      {"one_sided",
       write_list(comparison.one_sided,
                  [&](const UnmatchedExperiments& alone) { return write_one_sided(comparison, alone); })},
      {"conclusions", conclusions(comparison)},
      {"warnings", comparison.warnings}};
}

Document make_comparison_document(Comparison compared) {
  const auto comparison = std::make_shared<const Comparison>(std::move(compared));
  Document document{
      .title = fmt::format("{}, compared with {}", fmt::join(comparison->candidates, ", "), comparison->baseline)};
  document.blocks = {Text{verdict_counts(*comparison)}, comparison_table(*comparison)};
  add_notes(legend(*comparison), document.blocks);
  add_notes(remarks(*comparison), document.blocks);
  document.blocks.push_back(Heading{"In short"});
  add_notes(conclusions(*comparison), document.blocks);
  document.page = [comparison] { return make_page(*comparison); };
  document.json = [comparison] { return to_json(*comparison); };
  document.rows = [comparison] { return comparison_csv(*comparison); };
  return document;
}

}  // namespace posbench
