// `posbench separation`: the tasks of a report that separate encodings.
#include "results/statistics/separation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/console/command.h"
#include "harness/console/lines.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/terminal.h"
#include "results/document/table.h"
#include "results/document/wrap.h"
#include "results/statistics/comparison.h"

namespace posbench {
namespace {

constexpr double kRatio = 4;  // smallest ratio of variances at which a task counts as separating

struct SeparationRequest {
  std::filesystem::path report;
  SplitKind kind = SplitKind::out_of_distribution;
  Metric metric = Metric::sequence;
  double fraction = 2.0 / 3;  // smallest fraction of such tasks
  bool markdown = false;
};

int separation(const SeparationRequest& request) {
  const std::vector<Separation> separations =
      find_separations(summarize(read_run_report(request.report)), request.kind, request.metric);
  if (separations.empty()) {
    throw InputError(
        fmt::format("{}: no task has two encodings and two seeds; run with -s 5", request.report.string()));
  }
  Table table{{{"task"},
               {"between encodings", Align::right},
               {"over seeds", Align::right},
               {"ratio", Align::right},
               {"separates"},
               {"resolved pairs", Align::right}},
              {}};
  int separating = 0, seeds = separations.front().seeds;
  for (const Separation& task : separations) {
    separating += task.ratio >= kRatio;
    seeds = std::min(seeds, task.seeds);
    table.rows.push_back({task.task, fmt::format("{:.4f}", task.between), fmt::format("{:.4f}", task.over_seeds),
                          fmt::format("{:.1f}", task.ratio), task.ratio >= kRatio ? "yes" : "no",
                          fmt::format("{} of {}", task.resolved, task.pairs)});
  }
  fmt::print("{}\n", request.markdown ? to_markdown(table) : to_console_text(table, {console_width()}));
  const std::string line =
      fmt::format("{} of {} tasks separate encodings: at least {:g} times the variance over seeds, by {} {}",
                  separating, separations.size(), kRatio, metric_info(request.metric).title,
                  request.kind == SplitKind::in_distribution ? "in distribution" : "out of distribution");
  fmt::print("{}\n", wrap_text(line, 0, list_width()));
  if (seeds < static_cast<int>(kEnoughSeeds))
    fmt::print("{} seeds are too few to resolve pairs: run with -s {}\n", seeds, kEnoughSeeds);
  return separating >= request.fraction * static_cast<double>(separations.size()) ? 0 : 1;
}

}  // namespace

void add_separation(CommandLine& line) {
  const auto request = std::make_shared<SeparationRequest>();
  Command& command = line.add(kResults, "separation", "Show which tasks of a report separate encodings");
  command.file("report", request->report, "report or run directory with at least two seeds").required();
  command.choice<SplitKind, SplitKind>(
      "--kind", request->kind,
      {{"in_distribution", SplitKind::in_distribution}, {"out_of_distribution", SplitKind::out_of_distribution}},
      "kind of the splits whose mean is compared");
  add_metric(command, request->metric, /*has_effective_length=*/false);
  command.number("--fraction", request->fraction, 0.0, 1.0,
                 "smallest fraction of separating tasks; below it the exit code is 1");
  command.flag("--markdown", request->markdown, "Markdown table instead of text");
  command.explain(
      {{"posbench separation results/data/reference/report.json", ""}},
      {"The table has the variance between the means of the encodings, the variance over seeds, their ratio, and "
       "the number of pairs of encodings that exact permutation tests distinguish. A task separates encodings at a ratio "
       "of 4 or more."});
  command.run([request] { return separation(*request); });
}

}  // namespace posbench
