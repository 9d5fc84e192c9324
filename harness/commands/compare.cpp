// `posbench compare`: the differences between runs, with tests.
#include "results/statistics/compare.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/help.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/terminal.h"
#include "results/json/json.h"
#include "results/presentation/compare_page.h"
#include "results/presentation/compare_text.h"

namespace posbench {
namespace {

struct CompareRequest {
  std::filesystem::path baseline;  // a report or a run directory
  std::vector<std::filesystem::path> candidates;
  CompareOptions options;
  std::vector<std::string> match;  // "cope=cope:positions=16"
  bool fail_on_regression = false;
  Output output;
};

/// Breaks lines of text that are wider than the terminal, but not those of tables.
std::string fitted(const std::string& text, int width) {
  if (width == 0) return text;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool wide =
        static_cast<int>(line.size()) > width && line.find("  ") == line.npos;  // columns have wider gaps
    result += (wide ? wrapped(line, 0, width) : line) + "\n";
  }
  return result;
}

std::string comparison_text(const Comparison& comparison, Format format, const ConsoleStyle& style) {
  switch (format) {
    case Format::console:
      return fitted(console(comparison, style), style.width);
    case Format::markdown:
      return markdown(comparison);
    case Format::csv:
      return csv(comparison_table(comparison));
    case Format::json:
      return pretty(to_json(comparison));
    case Format::html:
      return compare_page(comparison);
  }
  return "";
}

/// Returns the width of the terminal. A pipe and a file get tables of any width.
ConsoleStyle style(const Output& output) {
  ConsoleStyle style = console_style(output);
  if (output.file || !on_terminal()) style.width = 0;
  return style;
}

/// Returns 1 if there is a regression and --fail-on-regression is given, otherwise 0. Throws InputError if the reports
/// cannot be read or compared.
int compare(const CompareRequest& request) {
  const Format format = output_format(request.output);  // refuses an invalid format before anything is read
  const Report baseline = read_run_report(request.baseline);
  const NamedReport named_baseline{request.baseline.string(), baseline};
  const std::vector<Report> reports = read_run_reports(request.candidates);
  const std::vector<NamedReport> candidates = name_reports(request.candidates, reports);
  CompareOptions options = request.options;
  for (const std::string& match : request.match)
    options.match.push_back(parse_match(match, named_baseline, candidates));
  const Comparison comparison = read_user_files([&] { return compare(named_baseline, candidates, options); });
  write_output(request.output, comparison_text(comparison, format, style(request.output)));
  return request.fail_on_regression && regression(comparison) ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CompareRequest>();
  CLI::App* command =
      app.add_subcommand("compare", "Compare runs, and test whether the differences exceed the noise of the seeds")
          ->group(kResults);
  command->add_option("baseline", request->baseline, "report or run directory")->required();
  command->add_option("candidates", request->candidates, "reports or run directories to compare with the baseline")
      ->required();
  command
      ->add_option("--alpha", request->options.alpha,
                   "probability of any verdict 'better' or 'worse' in a comparison of equal runs")
      ->check(CLI::Range(1e-9, 0.5));
  command
      ->add_option("--threshold", request->options.threshold,
                   "smallest relevant difference of the metric; smaller ones are 'same'")
      ->check(CLI::Range(0.0, 1e6));
  add_metric(*command, request->options.metric);
  command
      ->add_option(
          "--match", request->match,
          "two encodings to compare with each other, as in --match cope=cope:positions=16; may be repeated")
      ->default_str("encodings with the same spec")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--allow-different-budget", request->options.allow_different_budget,
                    "compare even if model or training settings differ");
  command->add_flag("--fail-on-regression", request->fail_on_regression, "exit with code 1 if a row is 'worse'");
  add_output(*command, request->output);
  set_footer(
      *command,
      {{"posbench compare before/report.json after/report.json", ""},
       {"posbench compare before after --match cope=cope:positions=4", "encodings with different options"},
       {"posbench compare main mine --format markdown --fail-on-regression", "for a continuous integration"},
       {"posbench compare before after -o change.html", "plots of differences with their intervals"}},
      {"Each row is a task, an encoding and a split: the verdict, both means, their difference with an interval, the "
       "number of seeds that solve it before and after, the corrected p-value of an exact permutation test, and the "
       "smallest difference that these seeds can detect. A task that was not learned has the verdict 'not learned' "
       "out of distribution, and rows of fewer than five seeds have no verdict (docs/reading.md).",
       "The comparison of a run that is in progress or was interrupted uses its finished experiments."});
  command->callback([request, &invocation] { invocation.exit_code = compare(*request); });
}

}  // namespace posbench
