// Makes the sections of a page with single experiments and with costs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "results/presentation/page_sections.h"
#include "results/presentation/report_table.h"

namespace posbench {

Section result_section(const PageSource& source) {
  const Table table = accuracy_table(source.summary);
  Plot plot{.kind = "table",
            .title = "Accuracy",
            .about = fmt::format("{}", fmt::join(accuracy_notes(source.summary), "\n"))};
  plot.details["results"] = true;
  for (const Column& column : table.columns) plot.columns.push_back({column.header, column.header});
  std::map<std::string, Json> rows;
  for (const std::vector<Cell>& cells : table.rows) {
    rows[cells.front().text] = write_list(cells, [](const Cell& cell) { return cell.text; });
  }
  for (const std::string& encoding : source.encodings) plot.rows.push_back(rows.at(encoding));
  return {"Results", "", {plot}};
}

Section cost_section(const PageSource& source) {
  Plot plot{
      .kind = "dots",
      .title = "Milliseconds for each training step",
      .about =
          "The time of an experiment on one thread, including evaluation and extensions, divided by its steps. Points are "
          "means over seeds.",
      .columns = {{"row", "encoding"},
                  {"series", "quantity"},
                  {"value", "milliseconds"},
                  {"low", "cheapest task"},
                  {"high", "most expensive task"},
                  {"experiments", "experiments"}}};
  plot.signals = {{"x_title", "milliseconds"}, {"zero", true}};
  const std::map<ExperimentId, double> seconds = read_seconds(source.report);
  for (const std::string& encoding : source.encodings) {
    std::vector<double> of_tasks;
    int experiments = 0;
    for (const std::string& task : source.tasks) {
      const auto found = source.experiments.at(task).find(encoding);
      if (found == source.experiments.at(task).end()) continue;
      std::vector<double> steps;
      for (const ExperimentResult* experiment : found->second) {
        if (experiment->extended) continue;  // its time is part of its parent's
        const auto time = seconds.find(experiment->id);
        if (time != seconds.end() && experiment->steps > 0)
          steps.push_back(1000 * time->second / experiment->steps);
      }
      experiments += static_cast<int>(steps.size());
      if (!steps.empty()) of_tasks.push_back(mean(steps));
    }
    if (of_tasks.empty()) continue;
    const auto [low, high] = std::minmax_element(of_tasks.begin(), of_tasks.end());
    plot.rows.push_back({encoding, "mean over tasks", round_for_page(mean(of_tasks)), round_for_page(*low),
                         round_for_page(*high), experiments});
  }
  return {
      "Cost",
      "Lines extend from the cheapest task to the most expensive. Compare within one machine only; posbench bench "
      "measures more exactly.",
      {plot}};
}

Section unfinished_section(const PageSource& source) {
  Plot plot{.kind = "table",
            .title = "Experiments that did not finish",
            .columns = {{"task", "task"},
                        {"encoding", "encoding"},
                        {"seed", "seed"},
                        {"status", "status"},
                        {"reason", "reason"}}};
  for (const ExperimentResult& experiment : source.report.experiments) {
    if (experiment.status == Status::ok) continue;
    plot.rows.push_back({experiment.id.task, experiment.id.encoding, experiment.id.seed,
                         to_string(experiment.status), experiment.reason});
  }
  return {"Not finished", "They count as 0 in all tables and in plots of accuracy.", {plot}};
}

Section seed_section(const PageSource& source) {
  Plot plot{.kind = "table",
            .title = "Every seed",
            .columns = {{"task", "task"},
                        {"encoding", "encoding"},
                        {"run", "run"},
                        {"seed", "seed"},
                        {"status", "status"},
                        {"split", "split"},
                        {"sequence", "sequence accuracy"},
                        {"token", "token accuracy"},
                        {"inspection", "inspect"}}};
  plot.details["seeds"] = true;
  size_t number = 0;
  for (const NamedReport& run : source.runs) {
    for (const ExperimentResult& original : run.report.experiments) {
      const ExperimentResult& experiment = source.report.experiments.at(number++);  // with its name on this page
      const auto inspection = source.options.inspections.find({run.name, original.id});
      for (const SplitBaseline& split : find_baseline(source.report, experiment.id.task).splits) {
        plot.rows.push_back({experiment.id.task, experiment.id.encoding, run.name, experiment.id.seed,
                             to_string(experiment.status), split.name,
                             round_for_page(split_accuracy(experiment, split.name, Metric::sequence)),
                             round_for_page(split_accuracy(experiment, split.name, Metric::token)),
                             inspection == source.options.inspections.end() ? "" : inspection->second});
      }
    }
  }
  return {"Seeds", "", {plot}};
}

}  // namespace posbench
