// `posbench compare`: what changed between runs.
#include "results/statistics/compare.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "harness/commands/terminal.h"
#include "results/json/json.h"
#include "results/presentation/compare_page.h"
#include "results/presentation/compare_text.h"

namespace posbench {
namespace {

struct CompareRequest {
  std::filesystem::path baseline;  // a report, or a run directory with one
  std::vector<std::filesystem::path> candidates;
  CompareOptions options;
  std::vector<std::string> match;  // "cope=cope:positions=16"
  bool fail_on_regression = false;
  Output output;
};

/// With the lines of text that are wider than a terminal broken; tables are not.
std::string fitted(const std::string& text, int width) {
  if (width == 0) return text;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool wide = static_cast<int>(line.size()) > width && line.find("  ") == line.npos;  // columns have wider gaps
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

/// One table where it is piped or written to a file, so that it is stable; on a terminal as wide as that.
ConsoleStyle style(const Output& output) {
  ConsoleStyle style = console_style(output);
  if (output.file || !on_terminal()) style.width = 0;
  return style;
}

/// Prints the comparison. Returns 1 with --fail-on-regression where there is one, otherwise 0. Throws
/// std::invalid_argument where a report cannot be read or the reports are not comparable.
int compare(const CompareRequest& request) {
  format(request.output);  // refuses what cannot be written before anything is read
  const Report baseline = read_given(request.baseline);
  const NamedReport named_baseline{request.baseline.string(), baseline};
  const std::vector<Report> reports = read_given(request.candidates);
  const std::vector<NamedReport> candidates = named(request.candidates, reports);
  CompareOptions options = request.options;
  for (const std::string& match : request.match)
    options.match.push_back(parse_match(match, named_baseline, candidates));
  const Comparison comparison = as_input([&] { return compare(named_baseline, candidates, options); });
  write(request.output, comparison_text(comparison, format(request.output), style(request.output)));
  return request.fail_on_regression && regression(comparison) ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CompareRequest>();
  CLI::App* command =
      app.add_subcommand("compare", "What changed between runs, and is it more than the noise of the seeds?");
  command->add_option("baseline", request->baseline, "a report, or a run directory")->required();
  command->add_option("candidates", request->candidates, "one or more of the same")->required();
  command
      ->add_option("--alpha", request->options.alpha, "chance of any better or worse in a comparison of equals")
      ->check(CLI::Range(1e-9, 0.5));
  command->add_option("--threshold", request->options.threshold, "smallest difference of the metric that matters")
      ->check(CLI::Range(0.0, 1e6));
  add_metric(*command, request->options.metric);
  command->add_option("--match", request->match, "pair two encodings, as in --match cope=cope:positions=16; may be repeated")
      ->default_str("encodings of the same spec")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--allow-different-budget", request->options.allow_different_budget,
                    "compare although model or training settings differ");
  command->add_flag("--fail-on-regression", request->fail_on_regression, "exit code 1 where a row is worse");
  add_output(*command, request->output);
  command->footer(
      "Examples:\n"
      "  posbench compare before/report.json after/report.json\n"
      "  posbench compare main mine --match cope=cope:positions=16 --format markdown --fail-on-regression\n"
      "  posbench compare before after -o change.html        the differences with their intervals, as plots\n"
      "If a run is in progress or was interrupted, its finished experiments are compared.");
  command->callback([request, &invocation] {
    invocation.code = compare(*request);
  });
}

}  // namespace posbench
