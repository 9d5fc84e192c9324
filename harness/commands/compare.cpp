// `posbench compare`: the differences between runs, with tests.
#include "results/statistics/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/spec.h"
#include "harness/commands/commands.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/selection.h"
#include "harness/runs/stored_baselines.h"
#include "results/presentation/compare_document.h"

namespace posbench {
namespace {

struct CompareRequest {
  std::filesystem::path baseline;  // a report or a run directory
  std::vector<std::filesystem::path> candidates;
  CompareOptions options;
  std::vector<std::string> match;      // "cope=cope:positions=16"
  std::optional<std::string> between;  // "cope,rope": two encodings of the baseline
  std::optional<std::string> with;     // "cope,rope": encodings whose stored results are the baseline
  Selection selection;
  bool fail_on_regression = false;
  Output output;
};

std::set<std::string> encodings_in(const Report& report) {
  std::set<std::string> encodings;
  for (const ExperimentResult& experiment : report.experiments) encodings.insert(experiment.id.encoding);
  return encodings;
}

/// Throws InputError if the reports have no encoding in common, but one encoding with different options.
void check_encodings(const NamedReport& baseline, std::span<const NamedReport> candidates) {
  const std::set<std::string> before = encodings_in(baseline.report);
  std::set<std::string> after;
  for (const NamedReport& candidate : candidates) after.merge(encodings_in(candidate.report));
  if (std::ranges::any_of(before, [&](const std::string& name) { return after.contains(name); })) return;
  for (const std::string& ours : before) {
    for (const std::string& theirs : after) {
      if (spec_name(ours) != spec_name(theirs)) continue;
      throw InputError(to_printable(fmt::format(
          "the reports have no encoding in common; to compare encodings with each other, add --match '{}={}'",
          ours, theirs)));
    }
  }
}

/// Reads a report without the counts that no comparison by the metric uses. They are most of a long report. Throws
/// InputError if no experiment is finished.
Report read_compared(const std::filesystem::path& path, Metric metric) {
  Report report = read_run_report(path);
  check_finished(report, path);
  const bool needs_lengths = metric == Metric::sequence_over_lengths || metric == Metric::token_over_lengths;
  for (ExperimentResult& experiment : report.experiments) {
    for (SplitResult& split : experiment.splits) {
      if (!needs_lengths) std::vector<LengthResult>().swap(split.by_length);
      std::vector<DistanceResult>().swap(split.by_distance);
      std::vector<PositionResult>().swap(split.by_position);
    }
  }
  return report;
}

/// Returns the encoding that a text names. Throws InputError if the report has none or several.
std::string find_encoding(const std::string& text, const std::set<std::string>& known) {
  if (known.contains(text)) return text;
  const std::set<std::string> found = select_names(text, ValueKind::encoding, known);
  if (found.size() != 1)
    throw InputError(fmt::format("--between: '{}' can be {}; name one of them", text, fmt::join(found, " or ")));
  return *found.begin();
}

/// Compares two encodings of one report.
Comparison compare_between(const CompareRequest& request) {
  const std::vector<std::string> texts = split_specs(*request.between);
  if (texts.size() != 2 || !request.candidates.empty()) {
    throw InputError(
        fmt::format("--between is '{}', expected two encodings of one report, as in 'compare runs/mine --between "
                    "cope,rope'; --match compares encodings of two reports",
                    *request.between));
  }
  if (!request.match.empty())
    throw InputError("--between and --match exclude each other; --match compares encodings of two reports");
  const Report report = read_compared(request.baseline, request.options.metric);
  const std::set<std::string> known = encodings_in(report);
  const std::string one = find_encoding(texts[0], known), other = find_encoding(texts[1], known);
  if (one == other)
    throw InputError(fmt::format("--between is '{}', expected two different encodings", *request.between));
  const std::string name = request.baseline.string();
  const NamedReport baseline{fmt::format("{} ({})", name, one), report},
      candidate{fmt::format("{} ({})", name, other), report};
  CompareOptions options = request.options;
  options.match.emplace_back(one, other);
  options.only_matched = true;
  return read_user_files([&] { return compare(baseline, {&candidate, 1}, options); });
}

/// Compares the encodings of a report with stored results of others. An encoding that is one of these others is
/// compared with the rest of them only if the report has no other encoding.
Comparison compare_with_stored(const CompareRequest& request) {
  if (!request.candidates.empty() || !request.match.empty())
    throw InputError("--with compares one report with stored results; leave out the other reports and --match");
  std::vector<std::string> stored;
  for (const std::string& text : split_specs(*request.with)) stored.push_back(read_encoding(text).text());
  const Report mine = read_compared(request.baseline, request.options.metric);
  const NamedReport candidate{request.baseline.string(), mine};
  CompareOptions options = request.options;
  StoredBaselines found = find_stored(candidate, stored, options.allow_different_budget);
  std::set<std::string> own = encodings_in(mine), others = own;
  for (const std::string& encoding : stored) others.erase(encoding);
  for (const std::string& encoding : encodings_in(found.report)) {
    for (const std::string& other : others.empty() ? own : others) {
      if (encoding != other) options.match.emplace_back(encoding, other);
    }
  }
  Comparison comparison = compare({"the stored results", found.report}, {&candidate, 1}, options);
  std::ranges::move(found.warnings, std::back_inserter(comparison.warnings));
  return comparison;
}

Comparison compare_reports(const CompareRequest& request) {
  if (request.between) return compare_between(request);
  if (request.with) return compare_with_stored(request);
  if (request.candidates.empty())
    throw InputError(
        "only one report is given; add the report to compare, --with A,B for stored results of encodings, or --between "
        "A,B for two of its encodings");
  const Metric metric = request.options.metric;
  const Report baseline = read_compared(request.baseline, metric);
  const NamedReport named_baseline{request.baseline.string(), baseline};
  std::vector<Report> reports;
  for (const std::filesystem::path& path : request.candidates) reports.push_back(read_compared(path, metric));
  const std::vector<NamedReport> candidates = name_reports(request.candidates, reports);
  CompareOptions options = request.options;
  for (const std::string& match : request.match)
    options.match.push_back(parse_match(match, named_baseline, candidates));
  if (options.match.empty()) check_encodings(named_baseline, candidates);
  return read_user_files([&] { return compare(named_baseline, candidates, options); });
}

/// Returns 1 if there is a regression and --fail-on-regression is given, otherwise 0. Throws InputError if the
/// reports cannot be read or compared.
int compare(const CompareRequest& request) {
  output_format(request.output);  // refuses an invalid format before anything is read
  Comparison comparison = compare_reports(request);
  select(request.selection, comparison);
  const int code = request.fail_on_regression && has_regression(comparison) ? 1 : 0;
  write_document(request.output, make_comparison_document(std::move(comparison)));
  return code;
}

}  // namespace

void add_compare(CommandLine& line) {
  const auto request = std::make_shared<CompareRequest>();
  Command& command = line.add(kResults, "compare",
                              "Compare runs, and test whether the differences exceed the noise of the seeds");
  command.file("baseline", request->baseline, "report or run directory").required();
  command.file("candidates", request->candidates, "reports or run directories to compare with the baseline");
  add_selection(command, request->selection);
  command
      .name("--between", request->between, ValueKind::encoding,
            "two encodings of one report to compare with each other, as in cope,rope")
      .default_text("none");
  command
      .name(
          "--with", request->with, ValueKind::encoding,
          "encodings whose stored results, with the same tasks and settings, are compared with those of the one report, as in "
          "rope,alibi,cope")
      .default_text("none")
      .excludes("--between");
  command.number("--alpha", request->options.alpha, 1e-9, 0.5,
                 "probability of any verdict 'better' or 'worse' in a comparison of equal runs");
  const CommandOption& threshold =
      command
          .number("--threshold", request->options.threshold, 0.0, 1e6,
                  "smallest relevant difference of the metric; smaller ones are never 'better' or 'worse', except "
                  "if no seed of one side finished")
          .default_text(fmt::format("{}, of the effective length {}", default_threshold(Metric::sequence),
                                    default_threshold(Metric::effective_length)));
  add_metric(command, request->options.metric);
  command
      .name("--match", request->match, ValueKind::encoding,
            "two encodings to compare with each other, as in --match cope=cope:positions=16; may be repeated")
      .repeated()
      .default_text("encodings with the same spec");
  command.flag("--allow-different-budget", request->options.allow_different_budget,
               "compare even if model or training settings differ");
  command.flag("--fail-on-regression", request->fail_on_regression, "exit with code 1 if a row is 'worse'");
  add_output(command, request->output);
  command.explain(
      {{"posbench compare before/report.json after/report.json", ""},
       {"posbench compare before after --match cope=cope:positions=4", "encodings with different options"},
       {"posbench compare main branch --format markdown --fail-on-regression", "for a continuous integration"},
       {"posbench compare before --between cope,rope -t 'flip*'", "two encodings of one run"},
       {"posbench compare mine.json --with rope,alibi,cope", "your encoding and stored results of others"},
       {"posbench compare before after -o change.html", "plots of differences with their intervals"}},
      {"Each row is a task, an encoding and a split: the verdict, both means, their difference with an interval, the "
       "number of seeds that solve it before and after, the corrected p-value of an exact permutation test, and in "
       "'detectable' the smallest difference that these seeds find with a power of 80 %. A task that was not learned has "
       "the verdict 'not learned' out of distribution. A row of fewer than five seeds becomes better or worse only if "
       "all experiments finished on one side and none on the other (docs/reading.md).",
       "Options -t, -e and --split select rows. The p-values stay corrected for all tests of the comparison.",
       "The comparison of a run that is in progress or was interrupted uses its finished experiments."});
  command.run([request, &threshold] {
    if (threshold.given().empty()) request->options.threshold = default_threshold(request->options.metric);
    return compare(*request);
  });
}

}  // namespace posbench
