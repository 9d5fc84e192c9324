#include "harness/reports.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/compare_text.h"
#include "results/printable.h"
#include "results/report_page.h"
#include "results/report_table.h"
#include "results/merged_report.h"

namespace posbench {
namespace {

Report read(const std::filesystem::path& path) {
  return as_input([&] { return read_report(std::filesystem::is_directory(path) ? path / "report.json" : path); });
}

std::vector<Report> read_all(const std::vector<std::filesystem::path>& paths) {
  std::vector<Report> reports;
  for (const auto& path : paths) reports.push_back(read(path));
  return reports;
}

std::vector<NamedReport> named(const std::vector<std::filesystem::path>& paths,
                               const std::vector<Report>& reports) {
  std::vector<NamedReport> runs;
  for (size_t n = 0; n < reports.size(); ++n) runs.push_back({paths[n].string(), reports[n]});
  return runs;
}

std::string report_text(const std::vector<NamedReport>& runs, Format format, bool color) {
  if (format == Format::html) return report_page(runs);
  const MergedReport all = merge_reports(runs);
  const Summary summary = summarize(all.report);
  if (format == Format::csv) return csv(split_table(summary));
  if (format == Format::json) {
    Json whole = to_json(all.report);
    return pretty({{"summary", std::move(whole["summary"])}, {"ranking", std::move(whole["ranking"])}});
  }
  std::string text;
  for (const Table& table : {accuracy_table(summary), ranking_table(summary), unfinished_table(all.report)}) {
    if (!table.rows.empty())
      text += (format == Format::markdown ? markdown(table) : console(table, {0, color})) + '\n';
  }
  std::vector<std::string> notes = accuracy_notes(summary);
  notes.insert(notes.end(), all.warnings.begin(), all.warnings.end());
  for (const std::string& note : notes) {
    text += (format == Format::markdown ? markdown_text(note) : printable(note)) + '\n';
  }
  return text;
}

std::string comparison_text(const Comparison& comparison, Format format, bool color) {
  switch (format) {
    case Format::console:
      return console(comparison, color);
    case Format::markdown:
      return markdown(comparison);
    case Format::csv:
      return csv(comparison_table(comparison));
    case Format::json:
      return pretty(to_json(comparison));
    case Format::html:
      break;
  }
  throw std::invalid_argument("a comparison has no page; use --format console, markdown, csv or json");
}

}  // namespace

int compare(const CompareRequest& request) {
  const Report baseline = read(request.baseline);
  const NamedReport named_baseline{request.baseline.string(), baseline};
  const std::vector<Report> reports = read_all(request.candidates);
  const std::vector<NamedReport> candidates = named(request.candidates, reports);
  CompareOptions options = request.options;
  for (const std::string& match : request.match)
    options.match.push_back(parse_match(match, named_baseline, candidates));
  const Comparison comparison = as_input([&] { return compare(named_baseline, candidates, options); });
  write(request.output, comparison_text(comparison, format(request.output), request.output.color));
  return request.fail_on_regression && regression(comparison) ? 1 : 0;
}

void report(const ReportRequest& request) {
  const std::vector<Report> reports = read_all(request.runs);
  const std::vector<NamedReport> runs = named(request.runs, reports);
  const Output& output = request.output;
  write(output, as_input([&] { return report_text(runs, format(output), output.color && !output.file); }));
}

}  // namespace posbench
