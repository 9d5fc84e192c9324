// The sections of a page that tell of experiments one by one, and of what they cost.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "results/presentation/page_sections.h"

namespace posbench {
namespace {

/// Seconds of each experiment. `timing` is passed through by whoever wrote the report: what is not as this program
/// writes it is not shown.
std::map<ExperimentId, double> read_seconds(const Json& timing) {
  std::map<ExperimentId, double> seconds;
  const auto list = timing.find("experiments");
  if (list == timing.end() || !list->is_array()) return seconds;
  for (const Json& time : *list) {
    const auto is = [&](const char* key, auto test) { return time.contains(key) && (time.at(key).*test)(); };
    if (!time.is_object() || !is("task", &Json::is_string) || !is("encoding", &Json::is_string) ||
        !is("seed", &Json::is_number_unsigned) || !is("seconds", &Json::is_number)) {
      continue;
    }
    const double value = time.at("seconds");
    if (value >= 0 && value < 1e12) seconds[{time.at("task"), time.at("encoding"), time.at("seed")}] = value;
  }
  return seconds;
}

}  // namespace

Section cost_section(const PageSource& source) {
  Plot plot{
      .kind = "dots",
      .title = "Milliseconds for each training step",
      .about =
          "Of one thread; an experiment's time, its evaluation and extensions included, over its steps. Points are means "
          "over seeds.",
      .columns = {{"row", "encoding"},
                  {"series", "of"},
                  {"value", "milliseconds"},
                  {"low", "least task"},
                  {"high", "greatest task"},
                  {"experiments", "experiments"}}};
  plot.signals = {{"x_title", "milliseconds"}, {"zero", true}};
  const std::map<ExperimentId, double> seconds = read_seconds(source.report.timing);
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
    plot.rows.push_back({encoding, "mean over tasks", page_number(mean(of_tasks)), page_number(*low),
                         page_number(*high), experiments});
  }
  return {"Cost",
          "Lines reach from the cheapest task to the dearest. Compare within one machine only; posbench bench "
          "measures more "
          "exactly.",
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
  return {"Not finished", "They count as nothing right, above and everywhere.", {plot}};
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
      for (const SplitBaseline& split : baseline(source.report, experiment.id.task).splits) {
        plot.rows.push_back({experiment.id.task, experiment.id.encoding, run.name, experiment.id.seed,
                             to_string(experiment.status), split.name,
                             page_number(split_accuracy(experiment, split.name, Metric::sequence)),
                             page_number(split_accuracy(experiment, split.name, Metric::token)),
                             inspection == source.options.inspections.end() ? "" : inspection->second});
      }
    }
  }
  return {"Seeds", "", {plot}};
}

}  // namespace posbench
