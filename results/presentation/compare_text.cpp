#include "results/presentation/compare_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/printable.h"
#include "results/json/json.h"

namespace posbench {
namespace {

constexpr Verdict kOrder[] = {Verdict::worse, Verdict::better, Verdict::undecided, Verdict::same};

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
    case Verdict::undecided:
      break;
  }
  return Tone::plain;
}

std::string encoding_text(const ComparisonRow& row) {
  if (row.encoding == row.candidate_encoding) return row.encoding;
  return fmt::format("{} -> {}", row.encoding, row.candidate_encoding);
}

/// "0.912", and how many of the pairs did not finish: "0.304 (2 unfinished)".
std::string mean_text(double mean, int unfinished) {
  return unfinished == 0 ? fmt::format("{:.3f}", mean) : fmt::format("{:.3f} ({} unfinished)", mean, unfinished);
}

std::string difference_text(const PairedTest& test) {
  if (!test.interval) return fmt::format("{:+.3f}", test.difference);
  return fmt::format("{:+.3f} ±{:.3f}", test.difference, test.interval->high - test.difference);
}

std::string p_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::string detectable_text(const std::optional<double>& difference) {
  if (!difference) return "-";
  return *difference > 1 ? ">1" : fmt::format("{:.3f}", *difference);
}

std::vector<Cell> cells(const Comparison& comparison, const ComparisonRow& row) {
  std::vector<Cell> cells = {{to_text(row.verdict), tone(row.verdict)}};
  if (comparison.candidates.size() > 1) cells.emplace_back(comparison.candidates[row.candidate]);
  for (std::string text :
       {row.task, encoding_text(row), row.split, mean_text(row.baseline_mean, row.baseline_unfinished),
        mean_text(row.candidate_mean, row.candidate_unfinished), difference_text(row.test),
        p_text(row.p_corrected), detectable_text(row.detectable), fmt::format("{}", row.seeds.size())}) {
    cells.emplace_back(std::move(text));
  }
  return cells;
}

Table table_of(const Comparison& comparison, std::span<const Verdict> verdicts) {
  Table table{.columns = {{"verdict"}}};
  if (comparison.candidates.size() > 1) table.columns.push_back({"candidate"});
  for (const char* header : {"task", "encoding", "split"}) table.columns.push_back({header});
  for (const char* header : {"baseline", "candidate", "difference (95%)", "p", "detects", "seeds"}) {
    table.columns.push_back({header, Align::right});
  }
  if (comparison.candidates.size() > 1) table.columns[6].header = "its mean";
  for (const Verdict verdict : verdicts) {
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == verdict) table.rows.push_back(cells(comparison, row));
    }
  }
  return table;
}

std::string title(const Comparison& comparison) {
  return fmt::format("{}, compared with {}", fmt::join(comparison.candidates, ", "), comparison.baseline);
}

std::string verdict_counts(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kOrder)
    parts.push_back(fmt::format("{} {}", count(comparison, verdict), to_text(verdict)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string legend(const Comparison& comparison) {
  const auto tests = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                   [](const ComparisonRow& row) { return row.p_corrected.has_value(); });
  return fmt::format(
      "{} accuracy, mean over the seeds that both have; differences of {} or more matter.\n"
      "p: paired t-test with the noise of the row or its task, corrected for {} rows (Holm); alpha {}.\n"
      "detects: the smallest difference that would be found with probability 0.8.\n",
      to_text(comparison.options.metric), comparison.options.threshold, tests, comparison.options.alpha);
}

std::string one_sided_text(const Comparison& comparison, const OneSided& alone) {
  const std::string& where = alone.in_baseline ? comparison.baseline : comparison.candidates[alone.candidate];
  const std::string against = alone.in_baseline && comparison.candidates.size() > 1
                                  ? " and not in " + comparison.candidates[alone.candidate]
                                  : "";
  return fmt::format("{} / {}, {} {}: in {} only{}", alone.task, alone.encoding,
                     alone.seeds.size() == 1 ? "seed" : "seeds", fmt::join(alone.seeds, ", "), where, against);
}

/// Encodings of one name, alone on either side, that a reader may want to pair.
std::vector<std::string> match_hints(const Comparison& comparison) {
  std::set<std::pair<size_t, std::string>> ours, theirs;  // by candidate
  for (const OneSided& alone : comparison.one_sided) {
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

/// A heading and lines, each made safe and preceded by a dash; nothing for no lines.
std::string list(const std::string& heading, const std::vector<std::string>& lines,
                 std::string (*safe)(std::string_view)) {
  if (lines.empty()) return "";
  std::string text = "\n" + heading + "\n\n";
  for (const std::string& line : lines) text += fmt::format("- {}\n", safe(line));
  return text;
}

std::string lists(const Comparison& comparison, std::string (*safe)(std::string_view)) {
  std::vector<std::string> alone;
  for (const OneSided& one : comparison.one_sided) alone.push_back(one_sided_text(comparison, one));
  for (std::string& hint : match_hints(comparison)) alone.push_back(std::move(hint));
  return list("On one side only:", alone, safe) + list("Warnings:", comparison.warnings, safe);
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json write_row(const Comparison& comparison, const ComparisonRow& row) {
  Json json;
  json["candidate"] = comparison.candidates[row.candidate];
  json["task"] = row.task;
  json["encoding"] = row.encoding;
  json["candidate_encoding"] = row.candidate_encoding;
  json["split"] = row.split;
  json["kind"] = to_text(row.kind);
  json["seeds"] = row.seeds;
  json["baseline_unfinished"] = row.baseline_unfinished;
  json["candidate_unfinished"] = row.candidate_unfinished;
  json["baseline_mean"] = row.baseline_mean;
  json["candidate_mean"] = row.candidate_mean;
  json["difference"] = row.test.difference;
  json["interval"] = nullptr;
  if (row.test.interval) json["interval"] = {{"low", row.test.interval->low}, {"high", row.test.interval->high}};
  json["p"] = number_or_null(row.test.p);
  json["noise"] = number_or_null(row.noise);
  json["p_corrected"] = number_or_null(row.p_corrected);
  json["detectable"] = number_or_null(row.detectable);
  json["verdict"] = to_text(row.verdict);
  return json;
}

Json write_one_sided(const Comparison& comparison, const OneSided& alone) {
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
  json["metric"] = to_text(options.metric);
  json["allow_different_budget"] = options.allow_different_budget;
  json["match"] = Json::array();
  for (const auto& [baseline, candidate] : options.match) {
    json["match"].push_back({{"baseline", baseline}, {"candidate", candidate}});
  }
  return json;
}

}  // namespace

Table comparison_table(const Comparison& comparison) { return table_of(comparison, kOrder); }

std::string console(const Comparison& comparison, bool color) {
  return fmt::format("{}: {}\n\n{}\n{}{}", printable(title(comparison)), verdict_counts(comparison),
                     console(comparison_table(comparison), ConsoleStyle{.color = color}), legend(comparison),
                     lists(comparison, printable));
}

std::string markdown(const Comparison& comparison) {
  constexpr Verdict kShown[] = {Verdict::worse, Verdict::better, Verdict::undecided}, kFolded[] = {Verdict::same};
  const Table shown = table_of(comparison, kShown), folded = table_of(comparison, kFolded);
  std::string text = fmt::format("**{}**: {}\n", markdown_text(title(comparison)), verdict_counts(comparison));
  if (!shown.rows.empty()) text += "\n" + markdown(shown);
  if (!folded.rows.empty()) {
    text += fmt::format("\n<details><summary>{} same</summary>\n\n{}\n</details>\n", folded.rows.size(),
                        markdown(folded));
  }
  return text + "\n" + legend(comparison) + lists(comparison, markdown_text);
}

Json to_json(const Comparison& comparison) {
  Json json;
  json["baseline"] = comparison.baseline;
  json["candidates"] = comparison.candidates;
  json["options"] = write_options(comparison.options);
  json["regression"] = regression(comparison);
  json["rows"] = write_list(comparison.rows, [&](const ComparisonRow& row) { return write_row(comparison, row); });
  json["one_sided"] =
      write_list(comparison.one_sided, [&](const OneSided& alone) { return write_one_sided(comparison, alone); });
  json["warnings"] = comparison.warnings;
  return json;
}

}  // namespace posbench
