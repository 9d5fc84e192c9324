// `posbench report`: what is in runs, as a page of plots or as tables.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "harness/commands/commands.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "harness/runs/page_options.h"
#include "results/presentation/merged_report.h"
#include "results/presentation/report_table.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // reports, or run directories with one
  bool anonymous = false;
  Output output;
};

std::string report_text(const ReportRequest& request, const std::vector<NamedReport>& runs) {
  const Output& output = request.output;
  const Format format = posbench::format(output);
  const bool color = wants_color(output.color) && !output.file;
  if (format == Format::html) {
    PageOptions options = page_options(runs, output.file.value_or("page.html"));
    if (request.anonymous) options.inspections.clear();  // links are paths
    return report_page(runs, options);
  }
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

/// Tells what is in reports: console and markdown the accuracies and ranks, csv and json every number of the
/// summary, html a page of plots. Throws std::invalid_argument where a report cannot be read, or several cannot
/// stand beside each other.
void report(const ReportRequest& request) {
  std::vector<Report> reports = read_given(request.runs);
  std::vector<std::filesystem::path> names = request.runs;
  for (size_t n = 0; request.anonymous && n < reports.size(); ++n) {
    make_anonymous(reports[n]);
    names[n] = fmt::format("run {}", n + 1);
  }
  const std::vector<NamedReport> runs = named(names, reports);
  write(request.output, as_input([&] { return report_text(request, runs); }));
}

}  // namespace

void add_report(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<ReportRequest>();
  CLI::App* command = app.add_subcommand(
      "report", "What is in a run: a page of plots, or tables for a terminal, a pull request, a spreadsheet");
  command->add_option("runs", request->runs, "reports, or run directories; several stand beside each other")
      ->required();
  command->add_flag("--anonymous", request->anonymous, "leaves out host, paths and command");
  add_output(*command, request->output);
  command->footer(
      "Examples:\n"
      "  posbench report runs/mine                      tables\n"
      "  posbench report runs/mine -o mine.html         one file with plots, which opens offline\n"
      "  posbench report before after --format markdown");
  command->callback([request] { report(*request); });
}

}  // namespace posbench
