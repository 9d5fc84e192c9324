// Makes the sections of a page with single experiments and with costs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/page_sections.h"
#include "results/presentation/report_table.h"

namespace posbench {

Section result_section(const PageSource& source) {
  Table table = accuracy_table(source.summary);
  std::map<std::string, size_t> places;
  for (const std::string& encoding : source.encodings) places.emplace(encoding, places.size());
  std::ranges::sort(table.rows, {}, [&](const std::vector<Cell>& row) { return places.at(row.front().text); });
  Plot plot =
      make_table_plot(table, "Accuracy", fmt::format("{}", fmt::join(accuracy_notes(source.summary), "\n")));
  plot.details["results"] = true;
  return {"Results", "", {std::move(plot)}};
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
  return {"Not finished",
          "They count as 0 in all tables and in plots of accuracy.",
          {make_table_plot(unfinished_table(source.report), "Experiments that did not finish")}};
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
