// `posbench report`: what is in runs, as a page of plots or as tables.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "base/printable.h"
#include "harness/commands/commands.h"
#include "harness/commands/live_page.h"
#include "harness/commands/message.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "harness/commands/terminal.h"
#include "harness/runs/page_options.h"
#include "harness/runs/run_reader.h"
#include "results/presentation/merged_report.h"
#include "results/presentation/report_table.h"
#include "results/reports/report_json.h"

namespace posbench {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // reports, or run directories
  Metric metric = Metric::sequence;
  bool by_split = false, keep_going = false, watch = false, anonymous = false;
  Output output;
};

std::string report_text(const ReportRequest& request, const std::vector<NamedReport>& runs, Format format,
                        const ConsoleStyle& style) {
  const Metric metric = request.metric;
  const MergedReport all = merge_reports(runs);
  const Summary summary = summarize(all.report);
  if (format == Format::csv) return csv(seed_table(all.report, summary));
  if (format == Format::json) {
    Json whole = to_json(all.report);
    return pretty({{"summary", std::move(whole["summary"])}, {"ranking", std::move(whole["ranking"])}, {"notes", all.warnings}});
  }
  std::string text;
  const auto add = [&](const Table& table) {
    if (!table.rows.empty()) text += (format == Format::markdown ? markdown(table) : console(table, style)) + '\n';
  };
  std::vector<std::string> notes;
  if (request.by_split) {
    for (const auto& [task, table] : split_tables(summary, metric)) {
      text += format == Format::markdown ? fmt::format("`{}`\n\n", task) : printable(task) + "\n";
      add(table);
    }
    notes = split_notes(summary, metric);
  } else {
    add(accuracy_table(summary, metric));
    add(ranking_table(summary));
    notes = accuracy_notes(summary, metric);
  }
  add(unfinished_table(all.report));
  notes.insert(notes.end(), all.warnings.begin(), all.warnings.end());
  for (const std::string& note : notes) {
    text += (format == Format::markdown ? markdown_text(note) : wrapped(printable(note), 0, style.width)) + '\n';
  }
  return text;
}

/// Without host, paths and command: the reports themselves, and what the runs are called.
void make_anonymous(std::vector<std::filesystem::path>& names, std::vector<Report>& reports) {
  for (size_t n = 0; n < reports.size(); ++n) {
    posbench::make_anonymous(reports[n]);
    names[n] = fmt::format("run {}", n + 1);
  }
}

std::string page(const ReportRequest& request, const std::vector<NamedReport>& runs, bool reload) {
  PageOptions options = page_options(runs, request.output.file.value_or("page.html"));
  if (request.anonymous) options.inspections.clear();  // links are paths
  std::string page = report_page(runs, options);
  return reload ? reloading(std::move(page)) : page;
}

/// Tells what is in reports: console and markdown the accuracies and ranks, csv every accuracy of every seed, json every
/// number of the summary, html a page of plots. Throws std::invalid_argument where several cannot be shown together.
void write_report(const ReportRequest& request, const std::vector<NamedReport>& runs, bool reload) {
  const Output& output = request.output;
  const Format chosen = format(output);
  write(output, as_input([&] {
          if (chosen == Format::html) return page(request, runs, reload);
          return report_text(request, runs, chosen, console_style(output));
        }));
}

/// The reports that can be read. Throws std::invalid_argument where one cannot, unless --keep-going is set and another can.
void report(const ReportRequest& request) {
  const Format chosen = format(request.output);  // refuses what cannot be written before anything is read
  if (request.by_split && chosen != Format::console && chosen != Format::markdown) {
    throw std::invalid_argument("--by-split is for tables (console or markdown); csv, json and html have every split without it");
  }
  std::vector<std::filesystem::path> paths;
  std::vector<Report> reports;
  for (const std::filesystem::path& path : request.runs) {
    try {
      reports.push_back(read_given(path));
      paths.push_back(path);
    } catch (const std::invalid_argument& error) {
      const bool last = reports.empty() && &path == &request.runs.back();
      if (!request.keep_going || last) throw;
      write_error(std::string("left out: ") + error.what());
    }
  }
  if (request.anonymous) make_anonymous(paths, reports);
  write_report(request, named(paths, reports), false);
}

/// Writes the report again whenever a run has finished another experiment, until all runs are finished.
void watch(const ReportRequest& request) {
  std::vector<RunReader> readers;
  for (const std::filesystem::path& run : request.runs) {
    if (!std::filesystem::is_directory(run))
      throw std::invalid_argument(run.string() + " is no run directory; --watch follows runs that go on");
    readers.emplace_back(run);
  }
  for (bool first = true;; first = false) {
    const bool changed =
        first || std::any_of(readers.begin(), readers.end(), [](const RunReader& reader) { return reader.changed(); });
    if (changed) {
      std::vector<Report> reports;
      for (RunReader& reader : readers) reports.push_back(reader.read());
      const bool finished =
          std::all_of(reports.begin(), reports.end(), [](const Report& report) { return report.so_far.empty(); });
      if (!request.output.file && on_terminal()) std::fputs("\x1b[2J\x1b[H", stdout);
      std::vector<std::filesystem::path> names = request.runs;
      if (request.anonymous) make_anonymous(names, reports);
      write_report(request, named(names, reports), !finished);
      std::fflush(stdout);
      if (finished) return;
      if (first && !is_quiet()) write_message("posbench: waiting for the run to go on; Ctrl-C ends this\n");
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

void add_report(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<ReportRequest>();
  CLI::App* command = app.add_subcommand(
      "report", "What is in a run, finished or not: a page of plots, or tables for a terminal, a pull request, a spreadsheet");
  command->add_option("runs", request->runs, "reports, or run directories; several are shown together")
      ->required();
  add_metric(*command, request->metric);
  command->add_flag("--by-split", request->by_split,
                    "for each task a table with a column for each split, instead of one table of means over splits");
  command->add_flag("--watch", request->watch,
                    "write the file again whenever experiments finish, until the runs are finished");
  command->add_flag("--keep-going", request->keep_going, "leave out, with a message, what cannot be read");
  command->add_flag("--anonymous", request->anonymous, "leave out host, paths and command");
  add_output(*command, request->output);
  command->footer(
      "Examples:\n"
      "  posbench report runs/mine                      tables\n"
      "  posbench report runs/mine --metric loss        mean cross-entropy in the table instead of accuracy\n"
      "  posbench report runs/mine --by-split           every split of every task\n"
      "  posbench report runs/mine -o mine.html         one file with plots, which opens offline\n"
      "  posbench report runs/mine -o mine.csv          a row for each task, encoding, seed and split\n"
      "  posbench report runs/mine --watch -o now.html  a page that follows a run, which a browser loads again\n"
      "  posbench report before after --format markdown\n"
      "If a run is in progress or was interrupted, the report has its finished experiments and their number.");
  command->callback([request] { request->watch ? watch(*request) : report(*request); });
}

}  // namespace posbench
