#include "results/presentation/compare_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "results/document/page.h"
#include "results/presentation/compare_text.h"

namespace posbench {
namespace {

std::vector<std::string> tasks(const Comparison& comparison) {
  std::vector<std::string> tasks;
  for (const ComparisonRow& row : comparison.rows) {
    if (std::find(tasks.begin(), tasks.end(), row.task) == tasks.end()) tasks.push_back(row.task);
  }
  return tasks;
}

/// Returns true if all rows of a task are of the same pair of encodings, in the same candidate.
bool has_one_pair(const Comparison& comparison, const std::string& task) {
  const ComparisonRow* first = nullptr;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.task != task) continue;
    if (first == nullptr) first = &row;
    if (row.candidate != first->candidate || encoding_text(row) != encoding_text(*first)) return false;
  }
  return true;
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
    plot.rows.push_back({one_pair ? row.split : fmt::format("{}, {}", pair_text(comparison, row), row.split),
                         to_string(row.verdict), round_for_page(row.difference),
                         row.interval ? round_for_page(row.interval->low) : Json(nullptr),
                         row.interval ? round_for_page(row.interval->high) : Json(nullptr),
                         round_for_page(row.before.mean), round_for_page(row.after.mean),
                         round_for_page(row.p_corrected), round_for_page(row.detectable), row.before.seeds.size(),
                         row.after.seeds.size()});
  }
  return plot;
}

}  // namespace

std::string make_compare_page(const Comparison& comparison) {
  std::vector<std::string> candidates;
  for (const std::string& candidate : comparison.candidates) candidates.push_back(short_run_name(candidate));
  Page page{.title = fmt::format("{}, compared with {}", fmt::join(candidates, ", "),
                                 short_run_name(comparison.baseline)),
            .notes = {verdict_counts(comparison)}};
  if (page.title != comparison_title(comparison)) page.notes.push_back(comparison_title(comparison));
  std::istringstream lines(comparison_legend(comparison));
  for (std::string line; std::getline(lines, line);) page.legend.push_back(line);
  for (const std::string& remark : comparison_remarks(comparison)) page.notes.push_back("Note: " + remark);
  page.sections.push_back({"Verdicts", "", {make_verdict_plot("All differences", comparison_table(comparison))}});
  Section section{"Differences by task", "", {}};
  for (const std::string& task : tasks(comparison)) section.plots.push_back(forest(comparison, task));
  page.sections.push_back(std::move(section));
  return to_html(page);
}

}  // namespace posbench
