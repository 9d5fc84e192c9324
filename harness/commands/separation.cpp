// `posbench separation`: which tasks of a report separate encodings?
#include "results/statistics/separation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/terminal.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "results/presentation/table.h"

namespace posbench {
namespace {

struct SeparationRequest {
  std::filesystem::path report;
  SplitKind kind = SplitKind::out_of_distribution;
  Metric metric = Metric::sequence;
  double ratio = 4;           // from which a task separates encodings
  double fraction = 2.0 / 3;  // of the tasks that must
  bool markdown = false;
};

int separation(const SeparationRequest& request) {
  const std::vector<Separation> separations =
      find_separations(summarize(read_given(request.report)), request.kind, request.metric);
  if (separations.empty()) {
    throw std::invalid_argument(fmt::format(
        "{}: expected a task with two encodings and two seeds or more; run with -s 5", request.report.string()));
  }
  Table table{{{"task"},
               {"between encodings", Align::right},
               {"over seeds", Align::right},
               {"ratio", Align::right},
               {"separates"},
               {"resolved pairs", Align::right}},
              {}};
  int apart = 0, seeds = separations.front().seeds;
  for (const Separation& task : separations) {
    apart += task.ratio >= request.ratio;
    seeds = std::min(seeds, task.seeds);
    table.rows.push_back({task.task, fmt::format("{:.4f}", task.between), fmt::format("{:.4f}", task.over_seeds),
                          fmt::format("{:.1f}", task.ratio), task.ratio >= request.ratio ? "yes" : "no",
                          fmt::format("{} of {}", task.resolved, task.pairs)});
  }
  fmt::print("{}\n", request.markdown ? markdown(table) : console(table, {console_width()}));
  fmt::print(
      "{} of {} tasks separate encodings: at least {:g} times the variance over seeds, by {} {}\n",
      apart, separations.size(), request.ratio, info(request.metric).title, to_text(request.kind));
  if (seeds < 5) fmt::print("{} seeds are too few to resolve pairs: run with -s 5\n", seeds);
  return apart >= request.fraction * static_cast<double>(separations.size()) ? 0 : 1;
}

}  // namespace

void add_separation(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<SeparationRequest>();
  CLI::App* command = app.add_subcommand("separation", "Which tasks of a report separate encodings?");
  command->add_option("report", request->report, "a report, or a run directory, with two seeds or more")
      ->required();
  add_choice<SplitKind, SplitKind>(*command, "--kind", request->kind,
                                   {{"in_distribution", SplitKind::in_distribution},
                                    {"out_of_distribution", SplitKind::out_of_distribution}},
                                   "the mean over the splits of this kind");
  add_metric(*command, request->metric);
  command->add_option("--ratio", request->ratio, "the ratio of variances from which on a task separates encodings")
      ->check(CLI::Range(0.0, 1e9));
  command
      ->add_option("--fraction", request->fraction,
                   "the fraction of tasks that must separate encodings; with fewer the exit code is 1")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--markdown", request->markdown, "as a Markdown table");
  command->footer(
      "The variance between encodings, of their means over seeds, beside the variance over seeds; and how many pairs\n"
      "of encodings exact permutation tests distinguish.\n"
      "Example:\n"
      "  posbench separation results/reference/report.json");
  command->callback([request, &invocation] { invocation.code = separation(*request); });
}

}  // namespace posbench
