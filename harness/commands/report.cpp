// `posbench report`: the results of runs as a page of plots or as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/command.h"
#include "harness/console/lines.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/selection.h"
#include "harness/console/terminal.h"
#include "harness/runs/page_options.h"
#include "results/presentation/effective_length_text.h"
#include "results/presentation/merged_report.h"
#include "results/presentation/report_table.h"
#include "results/reports/summary_json.h"

namespace posbench {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // reports, or run directories
  Metric metric = Metric::sequence;
  bool by_split = false, keep_going = false, anonymous = false;
  Selection selection;
  std::string sort = "run";  // run, name or accuracy
  Output output;
};

/// Returns the mean out of distribution, or in distribution if the task has no other split; the better, the
/// greater.
double quality(const SummaryRow& row, Metric metric) {
  const std::optional<SplitSummary>& split =
      row.out_of_distribution ? row.out_of_distribution : row.in_distribution;
  const Spread* spread = split ? split->spread(metric) : nullptr;
  if (spread == nullptr) return std::numeric_limits<double>::lowest();
  return metric_info(metric).lower_is_better ? -spread->mean : spread->mean;
}

/// Sorts the encodings of each table by name, or by their accuracy from the best on.
void sort_encodings(Summary& summary, const std::string& order, Metric metric) {
  if (order == "run") return;
  const auto is_before = [&](const SummaryRow& a, const SummaryRow& b) {
    return order == "name" ? a.encoding < b.encoding : quality(a, metric) > quality(b, metric);
  };
  std::map<std::string, double> sums;
  for (auto first = summary.rows.begin(); first != summary.rows.end();) {
    const auto last =
        std::find_if(first, summary.rows.end(), [&](const SummaryRow& row) { return row.task != first->task; });
    std::stable_sort(first, last, is_before);
    for (; first != last; ++first) sums[first->encoding] += quality(*first, metric);
  }
  std::stable_sort(summary.ranking.begin(), summary.ranking.end(), [&](const Ranking& a, const Ranking& b) {
    return order == "name" ? a.encoding < b.encoding : sums[a.encoding] > sums[b.encoding];
  });
}

std::string report_text(const ReportRequest& request, const std::vector<NamedReport>& runs, Format format,
                        const ConsoleStyle& style) {
  const Metric metric = request.metric;
  const MergedReport all = merge_reports(runs);
  Summary summary = summarize(all.report);
  sort_encodings(summary, request.sort, metric);
  if (format == Format::csv) return to_csv(seed_table(all.report, summary));
  if (format == Format::json) {
    const Json frame = {{"summary", Json::array()},
                        {"ranking", write_list(summary.ranking, [](const Ranking& r) { return to_json(r); })},
                        {"notes", all.warnings}};
    std::string text;
    write_indented_json(
        frame, "summary", summary.rows.size(), [&](size_t i) { return to_json(summary.rows[i]); },
        [&](std::string_view piece) { text += piece; });
    return text;
  }
  std::string text;
  const auto add = [&](const Table& table) {
    if (!table.rows.empty()) text += table_text(table, format, style) + '\n';
  };
  std::vector<std::string> notes;
  if (request.by_split) {
    for (const auto& [task, table] : split_tables(summary, metric)) {
      text += format == Format::markdown ? fmt::format("`{}`\n\n", task) : line_text(task, format, {}) + "\n";
      add(table);
    }
    notes = split_notes(summary, metric);
  } else {
    add(accuracy_table(summary, metric));
    if (metric != Metric::effective_length || has_grids(summary)) add(ranking_table(summary));
    notes = accuracy_notes(summary, metric);
  }
  add(unfinished_table(all.report));
  for (std::string& note : memory_notes(all.report)) notes.push_back(std::move(note));
  notes.insert(notes.end(), all.warnings.begin(), all.warnings.end());
  for (const std::string& note : notes) text += line_text(note, format, style) + '\n';
  return text;
}

/// Removes host, paths and command from the reports, and paths from the names of the runs.
void make_anonymous(std::vector<std::filesystem::path>& names, std::vector<Report>& reports) {
  for (size_t n = 0; n < reports.size(); ++n) {
    posbench::make_anonymous(reports[n]);
    names[n] = fmt::format("run {}", n + 1);
  }
}

std::string page_text(const ReportRequest& request, const std::vector<NamedReport>& runs) {
  PageOptions options = page_options(runs, request.output.file.value_or("page.html"));
  if (request.anonymous) options.inspections.clear();  // links are paths
  return make_report_page(runs, options);
}

/// Writes accuracies and ranks as text or Markdown, every accuracy of every seed as CSV, the summary as JSON, or a
/// page of plots as HTML. Throws InputError if the reports cannot be shown together.
void write_report(const ReportRequest& request, const std::vector<NamedReport>& runs) {
  const Output& output = request.output;
  const Format chosen = output_format(output);
  write_output(output, read_user_files([&] {
                 if (chosen == Format::html) return page_text(request, runs);
                 return report_text(request, runs, chosen, console_style(output));
               }));
}

/// Throws InputError if the options do not fit together.
void check_request(const ReportRequest& request) {
  const Format chosen = output_format(request.output);
  if (request.by_split && !is_text(chosen)) {
    throw InputError(
        "--by-split needs --format console, markdown or latex; csv, json and html have every split without it");
  }
  if (request.sort != "run" && !is_text(chosen))
    throw InputError(
        "--sort needs --format console, markdown or latex; csv, json and html have the order of the run");
  if (request.metric != Metric::sequence && !is_text(chosen))
    throw InputError("--metric needs --format console, markdown or latex; csv, json and html have every metric");
}

/// Reports once. With --keep-going, skips unreadable reports, unless all are.
void report(const ReportRequest& request) {
  check_request(request);
  std::vector<std::filesystem::path> paths;
  std::vector<Report> reports;
  for (const std::filesystem::path& path : request.runs) {
    try {
      reports.push_back(read_run_report(path));
      paths.push_back(path);
    } catch (const InputError& error) {
      const bool last = reports.empty() && &path == &request.runs.back();
      if (!request.keep_going || last) throw;
      write_error(std::string("skipped: ") + error.what());
    }
  }
  if (std::ranges::all_of(reports, [](const Report& report) { return report.experiments.empty(); }))
    check_finished(reports.front(), paths.front());
  select(request.selection, reports);
  if (request.anonymous) make_anonymous(paths, reports);
  write_report(request, name_reports(paths, reports));
  write_path(request.output.file);
}

}  // namespace

void add_report(CommandLine& line) {
  const auto request = std::make_shared<ReportRequest>();
  Command& command =
      line.add(kResults, "report", "Show the results of runs, finished or not, as tables or as a page of plots");
  command.file("runs", request->runs, "reports or run directories; several are shown together").required();
  add_selection(command, request->selection);
  command.choice("--sort", request->sort, {"run", "name", "accuracy"},
                 "order of the encodings: that of the run, by name, or the most accurate first");
  add_metric(command, request->metric);
  command.flag("--by-split", request->by_split,
               "one table for each task with a column for each split, instead of one table of means over splits");
  command.flag("--keep-going", request->keep_going, "skip unreadable reports with a warning");
  command.flag("--anonymous", request->anonymous, "omit host, paths and command");
  add_output(command, request->output);
  command.explain(
      {{"posbench report runs/mine", "tables"},
       {"posbench report runs/mine --metric loss", "mean cross-entropy instead of accuracy"},
       {"posbench report runs/mine --by-split", "every split of every task"},
       {"posbench report runs/mine -t flip_flop --split ood_sparse --sort accuracy", "a part of the results"},
       {"posbench report runs/mine -o mine.html", "a page of plots"},
       {"posbench report runs/mine -o mine.csv", "a row for each task, encoding, seed and split"},
       {"posbench report before after -o both.html", "two runs on one page"},
       {"posbench report before after --format markdown", "tables for a pull request"},
       {"posbench report runs/mine -o mine.tex", "tables for a paper"}},
      {"The page is one file, which works offline: accuracy by length and distance, maps of encodings and tasks, "
       "learning curves, ranks and costs. Below each plot are its values as a table and as CSV, and its Vega "
       "specification.",
       "The report of a run that is in progress or was interrupted has its finished experiments and states their "
       "number."});
  command.run([request] { report(*request); });
}

}  // namespace posbench
