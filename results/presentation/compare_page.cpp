#include "results/presentation/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "results/presentation/compare_text.h"
#include "results/presentation/page.h"

namespace posbench {
namespace {

std::vector<std::string> tasks(const Comparison& comparison) {
  std::vector<std::string> tasks;
  for (const ComparisonRow& row : comparison.rows) {
    if (std::find(tasks.begin(), tasks.end(), row.task) == tasks.end()) tasks.push_back(row.task);
  }
  return tasks;
}

Json number(const std::optional<double>& value) { return value ? round_for_page(*value) : Json(nullptr); }

std::string name(const Comparison& comparison, const ComparisonRow& row) {
  const std::string of = comparison.candidates.size() > 1 ? comparison.candidates[row.candidate] + ": " : "";
  return fmt::format("{}{}, {}", of, encoding_text(row), row.split);
}

Plot forest(const Comparison& comparison, const std::string& task) {
  Plot plot{.kind = "forest",
            .title = task,
            .about = fmt::format(
                "Candidate minus baseline. Lines are 95 % intervals; the grey range is ±{}, the smallest "
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
                        {"detectable", "smallest detectable difference (80 % power)"},
                        {"seeds_before", "seeds, baseline"},
                        {"seeds_after", "seeds, candidate"}}};
  plot.signals = {{"x_title", fmt::format("difference of {}", metric_info(comparison.options.metric).title)},
                  {"threshold", comparison.options.threshold}};
  for (const ComparisonRow& row : comparison.rows) {
    if (row.task != task) continue;
    plot.rows.push_back({name(comparison, row), to_string(row.verdict), round_for_page(row.difference),
                         row.interval ? round_for_page(row.interval->low) : Json(nullptr),
                         row.interval ? round_for_page(row.interval->high) : Json(nullptr),
                         round_for_page(row.before.mean), round_for_page(row.after.mean), number(row.p_corrected),
                         number(row.detectable), row.before.seeds.size(), row.after.seeds.size()});
  }
  return plot;
}

}  // namespace

std::string make_compare_page(const Comparison& comparison) {
  Page page{.title = comparison_title(comparison), .notes = {verdict_counts(comparison)}};
  std::istringstream lines(comparison_legend(comparison));
  for (std::string line; std::getline(lines, line);) page.notes.push_back(line);
  for (const std::string& remark : comparison_remarks(comparison)) page.notes.push_back("Note: " + remark);
  Section section{"Differences by task", "", {}};
  for (const std::string& task : tasks(comparison)) section.plots.push_back(forest(comparison, task));
  page.sections.push_back(std::move(section));
  return to_html(page);
}

}  // namespace posbench
