// `posbench report`: the results of runs as a page of plots or as tables.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/selection.h"
#include "harness/runs/page_options.h"
#include "results/presentation/report_document.h"

namespace posbench {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // reports, or run directories
  ReportChoice choice;
  Selection selection;
  Output output;
};

/// Throws InputError if the reports cannot be shown together.
void report(const ReportRequest& request) {
  output_format(request.output);  // refuses an invalid format before anything is read
  std::vector<Report> reports = read_run_reports(request.runs);
  if (std::ranges::all_of(reports, [](const Report& report) { return report.experiments.empty(); }))
    check_finished(reports.front(), request.runs.front());
  select(request.selection, reports);
  const std::vector<NamedReport> runs = name_reports(request.runs, reports);
  write_document(request.output,
                 read_user_files([&] { return make_report_document(runs, request.choice, page_options()); }));
}

}  // namespace

void add_report(CommandLine& line) {
  const auto request = std::make_shared<ReportRequest>();
  Command& command =
      line.add(kResults, "report", "Show the results of runs, finished or not, as tables or as a page of plots");
  command.file("runs", request->runs, "reports or run directories; several are shown together").required();
  add_selection(command, request->selection);
  add_metric(command, request->choice.metric);
  command.flag("--by-split", request->choice.by_split,
               "one table for each task with a column for each split, instead of one table of means over splits");
  command
      .flag("--by-length", request->choice.by_length,
            "one table for each task with the accuracy at each multiple of the trained length, of every seed")
      .excludes("--by-split");
  command
      .flag("--separation", request->choice.separation,
            "the tasks that separate encodings, instead of accuracies: the variance between the means of the "
            "encodings, that over seeds, and their ratio, out of distribution")
      .excludes("--by-split")
      .excludes("--by-length");
  add_output(command, request->output);
  command.explain(
      {{"posbench report runs/mine", "tables"},
       {"posbench report runs/mine --metric loss", "mean cross-entropy instead of accuracy"},
       {"posbench report runs/mine --by-split", "every split of every task"},
       {"posbench report runs/mine --by-length", "every multiple of the trained length"},
       {"posbench report runs/mine --separation", "the tasks that separate encodings"},
       {"posbench report runs/mine -t flip_flop --split ood_sparse", "a part of the results"},
       {"posbench report runs/mine -o mine.html", "a page of plots"},
       {"posbench report runs/mine -o mine.csv", "a row for each task, encoding, seed and split"},
       {"posbench report before after -o both.html", "two runs on one page"},
       {"posbench report before after --format markdown", "tables for a pull request"},
       {"posbench report runs/mine -o mine.tex", "tables for a paper"}},
      {"The page is one file, which works offline: accuracy by length and distance, maps of encodings and tasks, "
       "learning curves, ranks and costs. Below each plot are its values as a table and as CSV, and its Vega "
       "specification.",
       "The report of a run that is in progress or was interrupted has its finished experiments and states their "
       "number. A selected extension, as in rope->none, is shown with the model that was trained."});
  command.run([request] { report(*request); });
}

}  // namespace posbench
