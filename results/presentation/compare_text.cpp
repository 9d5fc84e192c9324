#include "results/presentation/compare_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "results/document/latex.h"
#include "results/presentation/accuracy_text.h"
#include "results/statistics/learned.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

int count(const Comparison& comparison, Verdict verdict) {
  return static_cast<int>(std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                        [&](const ComparisonRow& row) { return row.verdict == verdict; }));
}

Tone tone(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return Tone::good;
    case Verdict::worse:
      return Tone::bad;
    case Verdict::same:
      return Tone::faint;
    case Verdict::inconclusive:
    case Verdict::not_learned:
    case Verdict::too_few_seeds:
      break;
  }
  return Tone::plain;
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

std::string p_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::string detectable_text(const std::optional<double>& difference, Metric metric) {
  if (!difference) return "-";
  return metric_info(metric).is_accuracy && *difference > 1 ? ">1" : fmt::format("{:.3f}", *difference);
}

constexpr const char* kNumbers[] = {"baseline", "candidate", "difference (95%)", "solved", "p", "detectable"};

std::vector<std::string> numbers(const ComparisonRow& row, Metric metric) {
  return {mean_text(row.before), mean_text(row.after),    interval_text(row),
          solved_text(row),      p_text(row.p_corrected), detectable_text(row.detectable, metric)};
}

std::vector<Cell> cells(const Comparison& comparison, const ComparisonRow& row) {
  std::vector<Cell> cells = {{verdict_text(row), tone(row.verdict)}};
  if (comparison.candidates.size() > 1) cells.emplace_back(comparison.candidates[row.candidate]);
  for (std::string text : {row.task, encoding_text(row), row.split}) cells.emplace_back(std::move(text));
  for (std::string& text : numbers(row, comparison.options.metric)) cells.emplace_back(std::move(text));
  return cells;
}

Table table_of(const Comparison& comparison, std::span<const Verdict> verdicts) {
  Table table{.columns = {{"verdict"}}};
  if (comparison.candidates.size() > 1) table.columns.push_back({"candidate"});
  for (const char* header : {"task", "encoding", "split"}) table.columns.push_back({header});
  for (const char* header : kNumbers) table.columns.push_back({header, Align::right});
  if (comparison.candidates.size() > 1) table.columns[6].header = "its mean";
  for (const Verdict verdict : verdicts) {
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == verdict) table.rows.push_back(cells(comparison, row));
    }
  }
  return table;
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

/// Returns a heading and lines, each made safe and preceded by a dash; nothing for no lines.
std::string list(const std::string& heading, const std::vector<std::string>& lines,
                 std::string (*safe)(std::string_view)) {
  if (lines.empty()) return "";
  std::string text = "\n" + heading + "\n\n";
  for (const std::string& line : lines) text += fmt::format("- {}\n", safe(line));
  return text;
}

std::vector<std::string> one_sided_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const UnmatchedExperiments& one : comparison.one_sided) lines.push_back(one_sided_text(comparison, one));
  for (std::string& hint : match_hints(comparison)) lines.push_back(std::move(hint));
  return lines;
}

std::string lists(const Comparison& comparison, std::string (*safe)(std::string_view)) {
  return list("On one side only:", one_sided_lines(comparison), safe) +
         list("Warnings:", comparison.warnings, safe);
}

bool fits(const std::string& text, int width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (static_cast<int>(line.size()) > width) return false;  // bytes: a few more than characters
  }
  return true;
}

/// The order of kNumbers in a narrow table, which keeps the first of them.
constexpr size_t kByImportance[] = {0, 1, 2, 4, 3, 5};

/// Returns a table for each task and encoding, without the columns that would name them. If one is too wide, all
/// lack their last columns.
std::string grouped(const Comparison& comparison, const ConsoleStyle& style) {
  using Group = std::tuple<size_t, std::string, std::string>;  // candidate, task, encodings
  std::vector<std::pair<Group, Table>> groups;
  for (const ComparisonRow& row : comparison.rows) {
    const Group group{row.candidate, row.task, encoding_text(row)};
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
    Table& table = found == groups.end() ? groups.emplace_back(group, Table{}).second : found->second;
    if (table.columns.empty()) {
      table.columns = {{"split"}, {"verdict"}};
      for (const size_t n : kByImportance) table.columns.push_back({kNumbers[n], Align::right});
    }
    table.rows.push_back({row.split, {verdict_text(row), tone(row.verdict)}});
    const std::vector<std::string> all = numbers(row, comparison.options.metric);
    for (const size_t n : kByImportance) table.rows.back().emplace_back(all[n]);
  }
  size_t kept = 2 + std::size(kByImportance);
  const auto cut = [&](Table table) {
    table.columns.resize(kept);
    for (std::vector<Cell>& row : table.rows)
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(kept), row.end());
    return table;
  };
  const auto is_wide = [&](const auto& group) { return !fits(to_console_text(cut(group.second)), style.width); };
  while (kept > 3 && std::ranges::any_of(groups, is_wide)) --kept;
  std::string text;
  for (const auto& [group, table] : groups) {
    const auto& [candidate, task, encoding] = group;
    const std::string of = comparison.candidates.size() > 1 ? comparison.candidates[candidate] + ": " : "";
    text += to_printable(fmt::format("{}{}, {}", of, task, encoding)) + "\n" + to_console_text(cut(table), style) +
            "\n";
  }
  std::vector<std::string> left_out;
  for (const size_t n : std::span(kByImportance).subspan(kept - 2)) left_out.emplace_back(kNumbers[n]);
  if (!left_out.empty())
    text += fmt::format("The terminal is too narrow for {}; a pipe has them.\n", fmt::join(left_out, " and "));
  return text;
}

}  // namespace

Table comparison_table(const Comparison& comparison) { return table_of(comparison, kVerdictOrder); }

std::string encoding_text(const ComparisonRow& row) {
  if (row.encoding == row.candidate_encoding) return row.encoding;
  return fmt::format("{} -> {}", row.encoding, row.candidate_encoding);
}

std::string verdict_text(const ComparisonRow& row) {
  const std::optional<double> gain = row.verdict == Verdict::not_learned ? late_gain(row) : std::nullopt;
  return gain ? fmt::format("{} ({:+.2f})", to_string(row.verdict), *gain) : to_string(row.verdict);
}

std::string comparison_title(const Comparison& comparison) {
  return fmt::format("{}, compared with {}", fmt::join(comparison.candidates, ", "), comparison.baseline);
}

std::string verdict_counts(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdictOrder) {
    const int rows = count(comparison, verdict);
    if (rows > 0) parts.push_back(fmt::format("{} {}", rows, to_string(verdict)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string comparison_legend(const Comparison& comparison) {
  const bool is_length = comparison.options.metric == Metric::effective_length;
  std::string text = fmt::format(
      "{}, mean over seeds; differences of {} or more matter. solved: seeds with {} of sequences or more{}.\n",
      metric_info(comparison.options.metric).title, comparison.options.threshold, is_length ? kKept : kSolved,
      is_length ? " at every tested multiple" : "");
  if (comparison.tests > 0) {
    text += fmt::format(
        "p: exact permutation test over the splits of a task and encoding, corrected for {} {}; alpha {}.\n"
        "detectable: the smallest difference that these seeds find with a power of 80 %, assuming normal noise.\n",
        comparison.tests, comparison.tests == 1 ? "test" : "tests", comparison.options.alpha);
  }
  if (count(comparison, Verdict::not_learned) > 0) {
    text += fmt::format(
        "not learned: most seeds are under {} in distribution, so other splits say nothing about the encoding; in brackets,\n"
        "how much validation accuracy still rose in the last {:.0f} % of training.\n",
        kLearned, 100 * kLateTraining);
  }
  return text;
}

std::vector<std::string> comparison_remarks(const Comparison& comparison) {
  std::vector<std::string> lines = one_sided_lines(comparison);
  lines.insert(lines.end(), comparison.warnings.begin(), comparison.warnings.end());
  return lines;
}

std::string to_console_text(const Comparison& comparison, const ConsoleStyle& style) {
  const Table whole = comparison_table(comparison);
  const bool in_one = style.width == 0 || fits(to_console_text(whole), style.width);
  return fmt::format(
      "{}: {}\n\n{}\n{}{}", to_printable(comparison_title(comparison)), verdict_counts(comparison),
      in_one ? to_console_text(whole, ConsoleStyle{.color = style.color}) : grouped(comparison, style),
      comparison_legend(comparison), lists(comparison, to_printable));
}

std::string to_markdown(const Comparison& comparison) {
  constexpr Verdict kFolded[] = {Verdict::same};
  const Table shown = table_of(comparison, std::span(kVerdictOrder).first(std::size(kVerdictOrder) - 1)),
              folded = table_of(comparison, kFolded);
  std::string text =
      fmt::format("**{}**: {}\n", escape_markdown(comparison_title(comparison)), verdict_counts(comparison));
  if (!shown.rows.empty()) text += "\n" + to_markdown(shown);
  if (!folded.rows.empty()) {
    text += fmt::format("\n<details><summary>{} same</summary>\n\n{}\n</details>\n", folded.rows.size(),
                        to_markdown(folded));
  }
  return text + "\n" + comparison_legend(comparison) + lists(comparison, escape_markdown);
}

std::string to_latex(const Comparison& comparison) {
  std::string text = to_latex(comparison_table(comparison)) + "\n";
  std::string legend = comparison_legend(comparison);
  std::ranges::replace(legend, '\n', ' ');
  std::vector<std::string> notes{fmt::format("{}: {}", comparison_title(comparison), verdict_counts(comparison)),
                                 std::move(legend)};
  for (std::string& remark : comparison_remarks(comparison)) notes.push_back(std::move(remark));
  for (const std::string& note : notes) text += escape_latex(note) + "\n\n";
  return text;
}

}  // namespace posbench
